// layer_tables.cpp: what the tables say of networks. Interface: layer_tables.h. The tables are
// filled in layer_times.cpp and layer_scores.cpp.
#include "search/layer_tables.h"

#include <cmath>
#include <limits>

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What a layer scores, as it was and as it is now.
struct LayerNow {
  double own = 0, now = 0;

  double log_ratio() const { return own > 0 && now > 0 ? std::log(now / own) : 0; }
};

/// Compares how channels mix with how they did, by a metric that is told by that.
Comparison compared_by_mixing(const Metric& metric, const AssignmentMixing& mixing,
                              const Assignment& assignment) {
  double Mixing::*share = metric.contributes.of_mixing;
  double own = mixing.original().*share, now = mixing.of(assignment, share);
  Comparison result{metric.name, {}, {now - own}, {}};
  if (own > 0 && now > 0) result.log_ratios = {std::log(now / own)};
  return result;
}

/// Compares a network with the original by one metric.
Comparison compared_by(const MetricTable& table, const std::vector<size_t>& places,
                       const Assignment& assignment, const std::vector<double>& received) {
  const Contribution& contributes = table.metric.contributes;
  std::vector<LayerNow> layers;
  for (double own : table.own) layers.push_back({own, own});
  double sum = 0;  // of differences
  for (size_t s = 0; s < assignment.size(); ++s) {
    if (places[s] != no_place)
      layers[places[s]] = {table.scores[s][0], table.scores[s][assignment[s]]};
  }
  Comparison result{table.metric.name, {}, {}, {}};
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].now *= std::pow(received[i], contributes.first_order->gradient);
    sum += layers[i].now - layers[i].own;
    result.layers.push_back({"", layers[i].log_ratio()});
  }
  // Layers that are no convolutions, or that others score, stay as they are.
  if (result.layers.size() < table.layers) result.layers.resize(table.layers);
  bool is_mean = contributes.whole == Contribution::Whole::mean;
  double difference = is_mean ? sum / static_cast<double>(table.layers) : sum;
  result.differences = {difference};
  if (table.total > 0) result.log_ratios = {std::log((table.total + difference) / table.total)};
  return result;
}

}  // namespace

double time_of(const LayerTables& tables, const Assignment& assignment) {
  double time = tables.rest;
  for (size_t s = 0; s < assignment.size(); ++s) time += tables.times[s][assignment[s]];
  return time;
}

std::vector<Comparison> compared_first(const LayerTables& tables, const Assignment& assignment) {
  std::vector<double> gains(tables.metrics.front().own.size(), 1);
  for (size_t s = 0; s < assignment.size(); ++s) {
    if (tables.places[s] != no_place) gains[tables.places[s]] = tables.gains[s][assignment[s]];
  }
  std::vector<double> received = tables.flow.received(gains);
  std::vector<Comparison> result;
  for (const MetricTable& table : tables.metrics) {
    result.push_back(compared_by(table, tables.places, assignment, received));
  }
  return result;
}

double LayerTables::moved(size_t site, size_t variant) const {
  const std::vector<double>& scores = metrics.front().scores[site];
  return std::log(scores[variant] / scores[0]);
}

FirstJudgement judge_first(const GateRule& rule, const NetworkSpace& space,
                           const LayerTables& tables, const Assignment& assignment) {
  FirstJudgement result;
  result.time = time_of(tables, assignment);
  std::vector<Comparison> comparisons = compared_first(tables, assignment);
  const Comparison bands = comparisons.front();
  result.log_ratio = bands.log_ratios.empty() ? infinity : bands.log_ratios.front();
  for (size_t place : tables.places) {
    result.layers.push_back(place == no_place ? 0 : bands.layers[place].log_ratio);
  }
  bool is_known = std::isfinite(result.log_ratio);
  if (tables.mixing) {
    for (const Metric& metric : rule.metrics()) {
      if (metric.contributes.of_mixing == nullptr) continue;
      comparisons.push_back(compared_by_mixing(metric, *tables.mixing, assignment));
    }
  }
  for (size_t i = 0; is_known && i < rule.features.size(); ++i) {
    for (const Comparison& c : comparisons) {
      if (c.metric != rule.features[i].metric) continue;
      result.predicted += rule.weights[i] * value_of(rule.features[i], c);
    }
  }
  result.predicted *= 1 + rule.beyond_share;
  for (size_t s = 0; s < tables.points.size(); ++s) {
    result.predicted += tables.points[s][assignment[s]];
  }
  result.unknown = rule.beyond_deviation;
  if (!agrees(space, assignment)) {
    result.reason = "coupled layers would have different channels";
    return result;
  }
  bool within = is_known && is_within_bands(rule, bands);
  bool keeps = rule.is_paper || result.predicted >= -rule.tolerance;
  result.accepted = within && keeps;
  if (!within) result.reason = bands.metric + " moved too far, to first order";
  if (within && !keeps) result.reason = "too much accuracy is expected to be lost, to first order";
  return result;
}

}  // namespace lathe
