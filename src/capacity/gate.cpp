// gate.cpp: networks judged by scores. Interface: gate.h.
#include "capacity/gate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "program/layers.h"

namespace lathe {
namespace {

/// Adds the logarithms of the layers' ratios, for one seed.
void add_layers(const Score& original, const Score& candidate,
                std::map<std::string, std::vector<double>>& ratios) {
  Score after = folded(original, candidate), before = folded(original, original);
  for (size_t i = 0; i < before.layers.size(); ++i) {
    double was = before.layers[i].score, is = after.layers[i].score;
    if (was > 0 && is > 0) ratios[before.layers[i].layer].push_back(std::log(is / was));
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

/// Returns the deviation of a mean.
double deviation_of_mean(const std::vector<double>& numbers) {
  if (numbers.size() < 2) return 0;
  return deviation(numbers) / std::sqrt(static_cast<double>(numbers.size()));
}

/// Returns how far the mean is from 0, less what other draws of weights would move it by: its
/// deviation. So a change that is as small as chance does not count.
double beyond_chance(const std::vector<double>& numbers) {
  return std::max(0.0, std::abs(mean(numbers)) - deviation_of_mean(numbers));
}

std::string print_ratio(double ratio) { return fmt::format("{:.3g}", ratio); }

/// Reads the ratio of the network's scores, and how sure it is.
void measure(const Comparison& c, GateVerdict& verdict) {
  verdict.ratio = std::exp(mean(c.log_ratios));
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

Prediction predict(const GateRule& rule, const std::vector<Comparison>& comparisons) {
  Prediction result;
  std::vector<double> values = values_of(rule.features, comparisons);
  for (size_t i = 0; i < values.size(); ++i) result.points += rule.weights[i] * values[i];
  double spread = deviation_of_mean(find(comparisons, rule.features.front().metric).log_ratios);
  result.deviation = std::hypot(rule.deviation, rule.weights[0] * spread);
  return result;
}

/// Says how a prediction compares with what may be lost.
std::string print_margin(const GateRule& rule, const GateVerdict& verdict) {
  const char* how = verdict.accepted ? "no worse" : "worse";
  if (!rule.caveat.empty()) {
    return fmt::format("what the metrics predict together is {} than {:+.2f} points", how,
                       -rule.tolerance);
  }
  return fmt::format("together the metrics predict {:+.2f} points, {} than {:+.2f}",
                     verdict.predicted->points, how, -rule.tolerance);
}

void judge_from_both_sides(const GateRule& rule, const std::vector<Comparison>& comparisons,
                           GateVerdict& verdict) {
  const Comparison& c = find(comparisons, rule.features.front().metric);
  verdict.predicted = predict(rule, comparisons);
  verdict.caveat = rule.caveat;
  double spread = deviation_of_mean(c.log_ratios);
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
    double margin = verdict.predicted->points + rule.tolerance;
    verdict.accepted = margin >= 0;
    double up = above_zero(margin, verdict.predicted->deviation);
    verdict.sure = verdict.accepted ? up : 1 - up;
    verdict.reason = fmt::format("{} is {} times the original's, within its band; {}", c.metric,
                                 print_ratio(verdict.ratio), print_margin(rule, verdict));
  }
}

}  // namespace

Interval Prediction::interval() const {
  constexpr double deviations = 1.96;  // of a normal variable, which hold 95 %
  return {points - deviations * deviation, points + deviations * deviation};
}

Score folded(const Score& original, const Score& candidate) {
  std::vector<std::string> names;
  std::map<std::string, double> sums;
  for (const LayerScore& layer : original.layers) {
    names.push_back(layer.layer);
    sums[layer.layer] = 0;
  }
  for (const LayerScore& layer : candidate.layers) {
    if (auto of = layer_with(layer.layer, names)) sums[names[*of]] += layer.score;
  }
  Score result{candidate.total, {}};
  for (const LayerScore& layer : original.layers) {
    auto found = sums.find(layer.layer);
    if (found == sums.end()) continue;  // a layer that has two scores counts once
    result.layers.push_back({layer.layer, found->second});
    sums.erase(found);
  }
  return result;
}

double value_of(const Feature& feature, const Comparison& c) {
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
      return beyond_chance(c.log_ratios);
    case Form::log_distance:
      return std::log1p(beyond_chance(c.log_ratios));
    case Form::layers_distance:
      return c.layers.empty() ? 0 : sum / static_cast<double>(c.layers.size());
    case Form::worst_distance:
      return worst;
    case Form::log_ratio:
      return mean(c.log_ratios);
    case Form::times_less:
      return std::max(0.0, std::exp(-mean(c.log_ratios)) - 1);
    case Form::difference:
      return mean(c.differences);
    case Form::moved:
      return beyond_chance(c.differences);
  }
  return 0;
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
  // One seed has no spread, and another network may have any.
  if (c.log_ratios.size() < 2 || !verdict.caveat.empty()) verdict.sure.reset();
  return verdict;
}

GateVerdict with_precision(const GateRule& rule, GateVerdict verdict, double points) {
  double lost = std::max(0.0, -points), all = lost;
  if (verdict.predicted) {
    verdict.predicted->points -= lost;
    all = -verdict.predicted->points;
  }
  if (!verdict.accepted || all <= rule.tolerance) return verdict;
  verdict.accepted = false;
  verdict.sure.reset();
  verdict.reason = fmt::format(
      "computing less precisely loses {:.2f} points of accuracy: {:.2f} are lost in all, {:g} may "
      "be",
      lost, all, rule.tolerance);
  return verdict;
}

std::vector<std::string> print_mixing(const MixingChange& mixing) {
  std::vector<std::string> lines;
  auto add = [&](double Mixing::*share, const char* words, const char* meaning) {
    auto percent = [](double value) { return fmt::format("{:.3g} %", 100 * value); };
    std::string now = percent(mixing.after.*share), was = percent(mixing.before.*share);
    if (now != was) lines.push_back(fmt::format("{} {}, {} were{}", now, words, was, meaning));
  };
  add(&Mixing::connected, "of the pairs of channels in a stage are connected",
      ": the others never hear of each other");
  add(&Mixing::neighbours,
      "of the pairs of channels that two layers in a row could connect are connected", "");
  add(&Mixing::across, "of the pairs of channels are connected across the network", "");
  add(&Mixing::dead, "of the channels that layers compute are used by nothing", "");
  return lines;
}

std::string print_sure(const std::optional<double>& sure) {
  constexpr double most = 0.99;  // a few seeds and a fitted rule cannot promise more
  if (!sure) return "";
  if (*sure > most) return ": more than 99 % sure";
  return fmt::format(": {:.0f} % sure", 100 * *sure);
}

std::string print_prediction(const GateVerdict& verdict) {
  if (!verdict.predicted) return "";
  if (verdict.caveat.empty()) {
    return fmt::format("accuracy {:+.2f} points, give or take {:.2f}", verdict.predicted->points,
                       verdict.predicted->deviation);
  }
  Interval interval = verdict.predicted->interval();
  return fmt::format("accuracy {:+.1f} to {:+.1f} points, if the rule holds here", interval.low,
                     interval.high);
}

}  // namespace lathe
