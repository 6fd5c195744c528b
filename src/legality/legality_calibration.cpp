// legality_calibration.cpp: rules fitted to networks that were trained. Interface:
// legality_calibration.h.
#include "legality/legality_calibration.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/matrix.h"

namespace lathe {
namespace {

/// Of the networks that keep their accuracy, so many are inside of the bands.
constexpr double share_inside = 0.95;
/// Slopes are held back as if one more network with all features one deviation off had not moved.
constexpr double ridge = 1;

std::vector<double> changes(const std::vector<Trained>& networks, double original_accuracy) {
  std::vector<double> result;
  for (const Trained& network : networks) result.push_back(network.accuracy - original_accuracy);
  return result;
}

/// The features of all networks, each divided by its deviation.
struct Table {
  Matrix scaled;
  std::vector<double> scales;
};

Table table_of(const std::vector<Feature>& features, const std::vector<Trained>& networks) {
  Table table{Matrix(networks.size(), features.size()), {}};
  std::vector<std::vector<double>> columns(features.size());
  for (const Trained& network : networks) {
    std::vector<double> values = values_of(features, network.comparisons);
    for (size_t f = 0; f < features.size(); ++f) columns[f].push_back(values[f]);
  }
  for (size_t f = 0; f < features.size(); ++f) {
    double scale = deviation(columns[f]);
    if (scale <= 0) scale = 1;
    table.scales.push_back(scale);
    for (size_t i = 0; i < networks.size(); ++i) table.scaled(i, f) = columns[f][i] / scale;
  }
  return table;
}

/// Returns the rule that is fitted to all networks, or to all but one.
GateRule fitted_to(const std::vector<Feature>& features, const std::vector<Trained>& networks,
                   double original_accuracy, double tolerance) {
  GateRule rule;
  rule.name = "two-sided";
  rule.features = features;
  rule.tolerance = tolerance;
  std::vector<double> targets = changes(networks, original_accuracy);
  Table table = table_of(features, networks);
  LeastSquares line = least_squares(table.scaled, targets, ridge);
  rule.intercept = line.intercept;
  for (size_t f = 0; f < features.size(); ++f) {
    rule.weights.push_back(line.slopes[f] / table.scales[f]);
  }
  double squares = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    squares += std::pow(line.left_out[i] - targets[i], 2);
  }
  rule.deviation = std::sqrt(squares / static_cast<double>(targets.size()));
  std::vector<double> network_moves, layer_moves;
  for (size_t i = 0; i < networks.size(); ++i) {
    if (targets[i] < -tolerance) continue;
    const Comparison* first = nullptr;
    for (const Comparison& c : networks[i].comparisons) {
      if (c.metric == features.front().metric) first = &c;
    }
    check(first != nullptr && !first->log_ratios.empty(), "features were found before");
    network_moves.push_back(std::abs(mean(first->log_ratios)));
    double worst = 0;
    for (const LayerMove& layer : first->layers) worst = std::max(worst, std::abs(layer.log_ratio));
    layer_moves.push_back(worst);
  }
  if (network_moves.empty())
    fail("no network keeps its accuracy: there is nothing to fit bands to");
  rule.network_band = quantile(network_moves, share_inside);
  rule.layer_band = std::max(rule.network_band, quantile(layer_moves, share_inside));
  return rule;
}

/// Completes what is said of predictions.
void rate(RuleQuality& quality, const std::vector<double>& targets, double tolerance) {
  std::vector<bool> keeps;
  for (size_t i = 0; i < targets.size(); ++i) {
    keeps.push_back(targets[i] >= -tolerance);
    (keeps[i] ? quality.kept : quality.lost)++;
    if (quality.accepted[i]) (keeps[i] ? quality.kept_accepted : quality.lost_accepted)++;
  }
  auto area = [&](std::span<const size_t> chosen) {
    std::vector<bool> marked;
    for (size_t i : chosen) marked.push_back(keeps[i]);
    return roc_area(picked(quality.predicted, chosen), marked);
  };
  auto order = [&](std::span<const size_t> chosen) {
    return spearman(picked(quality.predicted, chosen), picked(targets, chosen));
  };
  std::vector<size_t> all(targets.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  quality.area = area(all);
  quality.spearman = order(all);
  quality.area_interval = bootstrap(all.size(), area);
  quality.spearman_interval = bootstrap(all.size(), order);
}

}  // namespace

double RuleQuality::false_rejections() const {
  return kept == 0 ? 0 : static_cast<double>(kept - kept_accepted) / static_cast<double>(kept);
}

double RuleQuality::false_acceptances() const {
  return lost == 0 ? 0 : static_cast<double>(lost_accepted) / static_cast<double>(lost);
}

Correlation correlated(const std::string& metric, const std::vector<double>& scores,
                       const std::vector<double>& accuracies) {
  Correlation result{metric, scores.size()};
  result.spearman = spearman(scores, accuracies);
  result.kendall = kendall(scores, accuracies);
  auto interval = [&](double (*statistic)(Numbers, Numbers)) {
    return bootstrap(scores.size(), [&](std::span<const size_t> chosen) {
      return statistic(picked(scores, chosen), picked(accuracies, chosen));
    });
  };
  result.spearman_interval = interval(spearman);
  result.kendall_interval = interval(kendall);
  return result;
}

RuleQuality quality_of(const GateRule& rule, const std::vector<Trained>& networks,
                       double original_accuracy, double tolerance) {
  RuleQuality quality;
  for (const Trained& network : networks) {
    GateVerdict verdict = judge(rule, network.comparisons);
    quality.accepted.push_back(verdict.accepted);
    quality.predicted.push_back(verdict.predicts ? verdict.predicted : std::log(verdict.ratio));
  }
  rate(quality, changes(networks, original_accuracy), tolerance);
  return quality;
}

FittedRule fit_rule(const std::vector<Feature>& features, const std::vector<Trained>& networks,
                    double original_accuracy, double tolerance) {
  if (networks.size() < features.size() + 4) {
    fail("{} networks are too few to fit {} features to", networks.size(), features.size());
  }
  FittedRule result{fitted_to(features, networks, original_accuracy, tolerance), {}};
  for (size_t i = 0; i < networks.size(); ++i) {
    std::vector<Trained> others = networks;
    others.erase(others.begin() + static_cast<long>(i));
    GateRule rule = fitted_to(features, others, original_accuracy, tolerance);
    GateVerdict verdict = judge(rule, networks[i].comparisons);
    result.quality.accepted.push_back(verdict.accepted);
    result.quality.predicted.push_back(verdict.predicted);
  }
  rate(result.quality, changes(networks, original_accuracy), tolerance);
  return result;
}

}  // namespace lathe
