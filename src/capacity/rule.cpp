// rule.cpp: rules as data. Interface: rule.h.
#include "capacity/rule.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "capacity/rules.h"
#include "program/rebatch.h"

namespace lathe {
namespace {

constexpr int rule_version = 2;
constexpr const char* version_key = "lathe_rule";

GateRule read_rule(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail("cannot read the rule '{}'", path);
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded()) fail("'{}' is no rule: it is not JSON", path);
  try {
    return rule_from_json(json);
  } catch (const UserError& error) {
    fail("'{}': {}", path, error.what());
  }
}

void check_version(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains(version_key)) {
    fail("this is no rule; 'lathe calibrate --write-rule FILE' writes one");
  }
  if (json[version_key] == rule_version) return;
  if (json[version_key] == 1) {
    fail(
        "the rule is of version 1, which had an intercept: it promised points to a network that "
        "nothing changed; fit it again with 'lathe calibrate --write-rule FILE'");
  }
  fail("the rule is of version {}; this Lathe reads version {}", json[version_key].dump(),
       rule_version);
}

}  // namespace

std::string print(const TrainingOrigin& origin) {
  std::string text = origin.network;
  for (const auto& [name, structure] : origin.others) text += ", " + name;
  if (!origin.dataset.empty()) text += " on " + origin.dataset;
  if (origin.epochs > 0) text += fmt::format(", {} epochs", origin.epochs);
  if (!origin.training.empty()) text += fmt::format(", {}", origin.training);
  return text;
}

std::string structure_of_network(const Graph& network) {
  Graph graph = network;
  for (Value& value : graph.values) {
    if (value.kind != Value::Kind::weight && value.kind != Value::Kind::state) continue;
    value.data.reset();
    value.initial = {};
  }
  try {
    graph = rebatched(std::move(graph), 1);
  } catch (const UserError&) {
    // The number of samples is a part of this network.
  }
  return fmt::format("{:016x}", structural_hash(graph));
}

std::vector<Metric> GateRule::metrics() const {
  std::vector<Metric> result;
  for (const Feature& feature : features) {
    bool known = std::any_of(result.begin(), result.end(),
                             [&](const Metric& m) { return m.name == feature.metric; });
    if (!known) result.push_back(find_metric(feature.metric));
  }
  return result;
}

std::vector<std::string> GateRule::unknown_to_first_order() const {
  std::vector<std::string> result;
  for (const Metric& metric : metrics()) {
    if (!metric.contributes.first_order) result.push_back(metric.name);
  }
  return result;
}

GateRule find_rule(const std::string& name_or_file) {
  if (name_or_file == "paper") return rule_from_json(nlohmann::json::parse(paper_rule));
  if (name_or_file == "two-sided") return rule_from_json(nlohmann::json::parse(two_sided_rule));
  if (name_or_file == "trained") return rule_from_json(nlohmann::json::parse(trained_rule));
  if (std::filesystem::is_regular_file(name_or_file)) return read_rule(name_or_file);
  fail(
      "no rule '{}': there are two-sided, trained and paper, and files that 'lathe calibrate "
      "--write-rule "
      "FILE' wrote",
      name_or_file);
}

GateRule suited(GateRule rule, const Graph& original, const std::string& dataset) {
  rule.caveat.clear();
  if (rule.is_paper) return rule;  // it predicts nothing
  std::string own = structure_of_network(original);
  bool network = own == rule.origin.structure ||
                 std::any_of(rule.origin.others.begin(), rule.origin.others.end(),
                             [&](const auto& other) { return other.second == own; });
  bool data = dataset == rule.origin.dataset;
  if (network && data) return rule;
  const char* what = network ? "these data" : data ? "this network" : "this network and these data";
  rule.caveat = fmt::format("prediction not calibrated for {}: the rule was fitted to {}", what,
                            print(rule.origin));
  return rule;
}

nlohmann::json to_json(const TrainingOrigin& origin) {
  nlohmann::json json{{"network", origin.network},
                      {"structure", origin.structure},
                      {"dataset", origin.dataset},
                      {"epochs", origin.epochs},
                      {"training", origin.training}};
  if (!origin.others.empty()) json["others"] = origin.others;
  return json;
}

TrainingOrigin origin_from_json(const nlohmann::json& json) {
  return {json.at("network"),  json.at("structure"),
          json.at("dataset"),  json.at("epochs"),
          json.at("training"), json.value("others", std::map<std::string, std::string>())};
}

nlohmann::json to_json(const GateRule& rule) {
  nlohmann::json features = nlohmann::json::array();
  for (size_t i = 0; i < rule.features.size(); ++i) {
    features.push_back({{"metric", rule.features[i].metric},
                        {"form", name_of(rule.features[i].form)},
                        {"weight", rule.weights[i]}});
  }
  nlohmann::json json{{version_key, rule_version},
                      {"name", rule.name},
                      {"source", rule.source},
                      {"features", features}};
  if (rule.is_paper) {
    json["paper"] = true;
    return json;
  }
  json["origin"] = to_json(rule.origin);
  json["tables"] = rule.tables;
  json["network_band"] = rule.network_band;
  json["layer_band"] = rule.layer_band;
  json["deviation"] = rule.deviation;
  json["tolerance"] = rule.tolerance;
  json["beyond_first_order"] = {{"share", rule.beyond_share}, {"deviation", rule.beyond_deviation}};
  return json;
}

GateRule rule_from_json(const nlohmann::json& json) {
  check_version(json);
  try {
    GateRule rule;
    rule.name = json.at("name");
    rule.source = json.at("source");
    for (const auto& feature : json.at("features")) {
      rule.features.push_back({feature.at("metric"), form_named(feature.at("form"))});
      rule.weights.push_back(feature.at("weight"));
      find_metric(rule.features.back().metric);
    }
    if (rule.features.empty()) fail("a rule needs a feature");
    rule.is_paper = json.value("paper", false);
    if (rule.is_paper) return rule;
    rule.origin = origin_from_json(json.at("origin"));
    json.at("tables").get_to(rule.tables);
    rule.network_band = json.at("network_band");
    rule.layer_band = json.at("layer_band");
    rule.deviation = json.at("deviation");
    rule.tolerance = json.at("tolerance");
    rule.beyond_share = json.at("beyond_first_order").at("share");
    rule.beyond_deviation = json.at("beyond_first_order").at("deviation");
    return rule;
  } catch (const nlohmann::json::exception&) {
    fail("a part of the rule is missing or of another type; 'lathe calibrate' writes whole rules");
  }
}

}  // namespace lathe
