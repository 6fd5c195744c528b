// task_forms.cpp: see task_forms.h.
#include "search/task_forms.h"

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace lathe {
namespace {

using Json = nlohmann::json;

/// JSON has no infinity: it is a text.
Json exact(double value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

double exact_in(const Json& json) {
  if (json.is_string()) return std::strtod(json.get_ref<const std::string&>().c_str(), nullptr);
  return json.get<double>();
}

Json exact_all(const std::vector<double>& values) {
  Json result = Json::array();
  for (double value : values) result.push_back(exact(value));
  return result;
}

std::vector<double> exact_all_in(const Json& json) {
  std::vector<double> result;
  for (const Json& each : json) result.push_back(exact_in(each));
  return result;
}

Json nodes(const std::vector<NodeTime>& times) {
  Json result = Json::array();
  for (const NodeTime& each : times) result.push_back({each.node, each.seconds});
  return result;
}

std::vector<NodeTime> nodes_in(const Json& json) {
  std::vector<NodeTime> result;
  for (const Json& each : json) result.push_back({each.at(0), each.at(1)});
  return result;
}

}  // namespace

Json to_json(const LayerQuestion& question) {
  Json json{{"layer", question.layer}, {"recipe", print(question.recipe)}, {"kind", question.kind}};
  if (const auto& width = question.width) {
    json["width"] = {width->filters, width->inputs, width->groups};
  }
  return json;
}

LayerQuestion question_from_json(const Json& json) {
  LayerQuestion question{
      json.at("layer"), parse_recipe(json.at("recipe").get<std::string>()), {}, json.at("kind")};
  if (json.contains("width")) {
    const Json& width = json["width"];
    question.width = LayerWidth{width.at(0), width.at(1), width.at(2)};
  }
  return question;
}

Json to_json(const LayerChange& change) {
  return {{"scores", exact_all(change.scores)}, {"gain", exact(change.gain)}};
}

LayerChange change_from_json(const Json& json) {
  return {exact_all_in(json.at("scores")), exact_in(json.at("gain"))};
}

Json to_json(const std::vector<Comparison>& comparisons) {
  Json result = Json::array();
  for (const Comparison& each : comparisons) {
    Json layers = Json::array();
    for (const LayerMove& layer : each.layers) {
      layers.push_back({layer.layer, exact(layer.log_ratio)});
    }
    result.push_back({{"metric", each.metric},
                      {"log_ratios", exact_all(each.log_ratios)},
                      {"differences", exact_all(each.differences)},
                      {"layers", layers}});
  }
  return result;
}

std::vector<Comparison> comparisons_from_json(const Json& json) {
  std::vector<Comparison> result;
  for (const Json& each : json) {
    Comparison comparison{each.at("metric"),
                          exact_all_in(each.at("log_ratios")),
                          exact_all_in(each.at("differences")),
                          {}};
    for (const Json& layer : each.at("layers")) {
      comparison.layers.push_back({layer.at(0), exact_in(layer.at(1))});
    }
    result.push_back(std::move(comparison));
  }
  return result;
}

Json to_json(const NetworkTimes& times) {
  if (!times.failure.empty()) return {{"failure", times.failure}};
  return {{"own", times.own},
          {"time", times.time},
          {"spread", times.spread},
          {"own_nodes", nodes(times.own_nodes)},
          {"nodes", nodes(times.nodes)},
          {"checks", to_json(times.checks)},
          {"own_checks", to_json(times.own_checks)},
          {"bytes", times.bytes},
          {"own_bytes", times.own_bytes}};
}

NetworkTimes times_from_json(const Json& json) {
  NetworkTimes times;
  times.failure = json.value("failure", "");
  if (!times.failure.empty()) return times;
  times.own = json.at("own");
  times.time = json.at("time");
  times.spread = json.at("spread");
  times.own_nodes = nodes_in(json.at("own_nodes"));
  times.nodes = nodes_in(json.at("nodes"));
  times.checks = network_checks_from_json(json.at("checks"));
  times.own_checks = network_checks_from_json(json.at("own_checks"));
  times.bytes = json.at("bytes");
  times.own_bytes = json.at("own_bytes");
  return times;
}

}  // namespace lathe
