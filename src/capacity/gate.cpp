// gate.cpp: networks judged by scores. Interface: gate.h.
#include "capacity/gate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_reason.h"
#include "capacity/rules.h"
#include "program/layers.h"

namespace lathe {
namespace {

constexpr std::pair<Feature::Form, const char*> form_names[] = {
    {Feature::Form::distance, "distance"},
    {Feature::Form::log_distance, "log_distance"},
    {Feature::Form::layers_distance, "layers_distance"},
    {Feature::Form::worst_distance, "worst_distance"},
    {Feature::Form::log_ratio, "log_ratio"},
    {Feature::Form::difference, "difference"},
    {Feature::Form::moved, "moved"},
};

Feature::Form form_named(const std::string& name) {
  for (const auto& [form, known] : form_names) {
    if (name == known) return form;
  }
  fail("a rule has no feature of the form '{}'", name);
}

std::map<std::string, double> scores_by_layer(const Score& score) {
  std::map<std::string, double> result;
  for (const LayerScore& layer : score.layers) result[layer.layer] += layer.score;
  return result;
}

/// Adds the logarithms of the layers' ratios, for one seed.
void add_layers(const Score& original, const Score& candidate,
                std::map<std::string, std::vector<double>>& ratios) {
  std::map<std::string, double> before = scores_by_layer(original), after;
  std::vector<std::string> names;
  for (const auto& [name, score] : before) names.push_back(name);
  for (const LayerScore& layer : candidate.layers) {
    auto of = layer_with(layer.layer, names);
    if (of) after[names[*of]] += layer.score;
  }
  for (const auto& [name, score] : before) {
    if (score > 0 && after.contains(name) && after[name] > 0) {
      ratios[name].push_back(std::log(after[name] / score));
    }
  }
}

/// The probability that a normal variable is above 0.
double above_zero(double mean, double deviation) {
  if (deviation <= 0) return mean > 0 ? 1 : mean < 0 ? 0 : 0.5;
  return 0.5 * std::erfc(-mean / deviation / std::sqrt(2.0));
}

const Comparison& find(const std::vector<Comparison>& comparisons, const std::string& metric) {
  auto found = std::find_if(comparisons.begin(), comparisons.end(),
                            [&](const Comparison& c) { return c.metric == metric; });
  check(found != comparisons.end(), "networks are compared by the metrics of the rule");
  return *found;
}

double value_of(const Feature& feature, const Comparison& c) {
  using Form = Feature::Form;
  bool ratio = feature.form != Form::difference && feature.form != Form::moved;
  if (ratio && c.log_ratios.empty()) {
    fail("{} has no ratio: one of its scores is not positive", c.metric);
  }
  double sum = 0, worst = 0;
  for (const LayerMove& layer : c.layers) {
    sum += std::abs(layer.log_ratio);
    worst = std::max(worst, std::abs(layer.log_ratio));
  }
  switch (feature.form) {
    case Form::distance:
      return std::abs(mean(c.log_ratios));
    case Form::log_distance:
      return std::log1p(std::abs(mean(c.log_ratios)));
    case Form::layers_distance:
      return c.layers.empty() ? 0 : sum / static_cast<double>(c.layers.size());
    case Form::worst_distance:
      return worst;
    case Form::log_ratio:
      return mean(c.log_ratios);
    case Form::difference:
      return mean(c.differences);
    case Form::moved:
      return std::abs(mean(c.differences));
  }
  return 0;
}

/// Returns the deviation of a mean.
double deviation_of_mean(const std::vector<double>& numbers) {
  if (numbers.size() < 2) return 0;
  return deviation(numbers) / std::sqrt(static_cast<double>(numbers.size()));
}

std::string print_ratio(double ratio) { return fmt::format("{:.3g}", ratio); }

/// Reads the ratio of the network's scores, and how sure it is.
void measure(const Comparison& c, GateVerdict& verdict) {
  double middle = mean(c.log_ratios);
  verdict.ratio = std::exp(middle);
  verdict.interval = {verdict.ratio, verdict.ratio};
  if (c.log_ratios.size() > 1) {
    Interval logs = mean_interval(c.log_ratios);
    verdict.interval = {std::exp(logs.low), std::exp(logs.high)};
  }
  verdict.layers = c.layers;
}

void judge_as_published(const Comparison& c, GateVerdict& verdict) {
  double middle = mean(c.log_ratios), spread = deviation_of_mean(c.log_ratios);
  verdict.accepted = middle >= 0;
  double up = above_zero(middle, spread);
  verdict.sure = verdict.accepted ? up : 1 - up;
  verdict.reason =
      fmt::format("{} is {} times the original's: {} the original", c.metric,
                  print_ratio(verdict.ratio), verdict.accepted ? "not below" : "below");
}

/// Returns how far the worst layer is outside of its band; at most 0 if none is.
std::pair<double, std::string> worst_layer(const GateRule& rule, const Comparison& c) {
  std::pair<double, std::string> worst{-rule.layer_band, ""};
  for (const LayerMove& layer : c.layers) {
    double beyond = std::abs(layer.log_ratio) - rule.layer_band;
    if (beyond > worst.first) worst = {beyond, layer.layer};
  }
  return worst;
}

void judge_from_both_sides(const GateRule& rule, const std::vector<Comparison>& comparisons,
                           GateVerdict& verdict) {
  const Comparison& c = find(comparisons, rule.features.front().metric);
  std::vector<double> values = values_of(rule.features, comparisons);
  verdict.predicts = true;
  verdict.predicted = rule.intercept;
  for (size_t i = 0; i < values.size(); ++i) verdict.predicted += rule.weights[i] * values[i];
  double spread = deviation_of_mean(c.log_ratios);
  verdict.uncertainty = std::hypot(rule.deviation, rule.weights[0] * spread);
  auto [beyond, layer] = worst_layer(rule, c);
  double moved = std::abs(mean(c.log_ratios));
  if (moved > rule.network_band) {
    verdict.reason = fmt::format(
        "{} is {} times the original's, outside of {} to {}", c.metric, print_ratio(verdict.ratio),
        print_ratio(std::exp(-rule.network_band)), print_ratio(std::exp(rule.network_band)));
    verdict.sure = above_zero(moved - rule.network_band, spread);
  } else if (beyond > 0) {
    verdict.reason = fmt::format("{} of layer '{}' is outside of {} to {} times the original's",
                                 c.metric, layer, print_ratio(std::exp(-rule.layer_band)),
                                 print_ratio(std::exp(rule.layer_band)));
    verdict.sure = above_zero(beyond, spread);
  } else {
    double margin = verdict.predicted + rule.tolerance;
    verdict.accepted = margin >= 0;
    double up = above_zero(margin, verdict.uncertainty);
    verdict.sure = verdict.accepted ? up : 1 - up;
    verdict.reason = fmt::format(
        "{} is {} times the original's, within its band; together the "
        "metrics predict {:+.2f} points, {} than {:+.2f}",
        c.metric, print_ratio(verdict.ratio), verdict.predicted,
        verdict.accepted ? "no worse" : "worse", -rule.tolerance);
  }
}

}  // namespace

const char* name_of(Feature::Form form) {
  for (const auto& [known, name] : form_names) {
    if (known == form) return name;
  }
  return "";
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

GateRule find_rule(const std::string& name) {
  if (name == "paper") {
    GateRule rule;
    rule.name = "paper";
    rule.source = "Turner, Crowley, O'Boyle, ASPLOS 2021";
    rule.is_paper = true;
    rule.features = {{"fisher", Feature::Form::log_ratio}};
    rule.weights = {1};
    return rule;
  }
  if (name == "two-sided") return rule_from_json(nlohmann::json::parse(two_sided_rule));
  fail("no rule '{}'; there are two-sided and paper", name);
}

nlohmann::json to_json(const GateRule& rule) {
  nlohmann::json features = nlohmann::json::array();
  for (size_t i = 0; i < rule.features.size(); ++i) {
    features.push_back({{"metric", rule.features[i].metric},
                        {"form", name_of(rule.features[i].form)},
                        {"weight", rule.weights[i]}});
  }
  return {{"lathe_rule", 1},
          {"name", rule.name},
          {"source", rule.source},
          {"network_band", rule.network_band},
          {"layer_band", rule.layer_band},
          {"intercept", rule.intercept},
          {"features", features},
          {"deviation", rule.deviation},
          {"tolerance", rule.tolerance}};
}

GateRule rule_from_json(const nlohmann::json& json) {
  try {
    if (json.at("lathe_rule") != 1) fail("the rule is of another version of Lathe");
    GateRule rule;
    rule.name = json.at("name");
    rule.source = json.at("source");
    rule.network_band = json.at("network_band");
    rule.layer_band = json.at("layer_band");
    rule.intercept = json.at("intercept");
    rule.deviation = json.at("deviation");
    rule.tolerance = json.at("tolerance");
    for (const auto& feature : json.at("features")) {
      rule.features.push_back({feature.at("metric"), form_named(feature.at("form"))});
      rule.weights.push_back(feature.at("weight"));
    }
    if (rule.features.empty()) fail("a rule needs a feature");
    return rule;
  } catch (const nlohmann::json::exception& error) {
    fail("this is no rule: {}", plain_reason(error));
  }
}

std::vector<Comparison> compared(const std::vector<Scores>& original,
                                 const std::vector<Scores>& candidate) {
  check(original.size() == candidate.size(), "networks are compared by the same metrics");
  std::vector<Comparison> result;
  for (size_t m = 0; m < original.size(); ++m) {
    Comparison c{original[m].metric, {}, {}, {}};
    std::vector<double> before = original[m].totals(), after = candidate[m].totals();
    check(before.size() == after.size(), "networks are compared with the same seeds");
    bool positive = true;
    std::map<std::string, std::vector<double>> layers;
    for (size_t i = 0; i < before.size(); ++i) {
      positive = positive && before[i] > 0 && after[i] > 0;
      c.differences.push_back(after[i] - before[i]);
      add_layers(original[m].of_seeds[i], candidate[m].of_seeds[i], layers);
    }
    for (size_t i = 0; positive && i < before.size(); ++i) {
      c.log_ratios.push_back(std::log(after[i] / before[i]));
    }
    for (const LayerScore& layer : original[m].of_seeds.front().layers) {
      auto found = layers.find(layer.layer);
      if (found != layers.end()) c.layers.push_back({layer.layer, mean(found->second)});
    }
    result.push_back(std::move(c));
  }
  return result;
}

std::vector<double> values_of(const std::vector<Feature>& features,
                              const std::vector<Comparison>& comparisons) {
  std::vector<double> result;
  for (const Feature& feature : features) {
    result.push_back(value_of(feature, find(comparisons, feature.metric)));
  }
  return result;
}

bool is_within_bands(const GateRule& rule, const Comparison& comparison) {
  double moved = mean(comparison.log_ratios);
  if (rule.is_paper) return moved >= 0;
  return std::abs(moved) <= rule.network_band && worst_layer(rule, comparison).first <= 0;
}

GateVerdict judge(const GateRule& rule, const std::vector<Comparison>& comparisons) {
  const Comparison& c = find(comparisons, rule.features.front().metric);
  if (c.log_ratios.empty()) fail("{} has no ratio: one of its scores is not positive", c.metric);
  GateVerdict verdict;
  measure(c, verdict);
  if (rule.is_paper) {
    judge_as_published(c, verdict);
  } else {
    judge_from_both_sides(rule, comparisons, verdict);
  }
  return verdict;
}

}  // namespace lathe
