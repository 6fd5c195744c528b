// calibration.cpp: rules fitted to networks that were trained. Interface: calibration.h.
#include "capacity/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/matrix.h"

namespace lathe {
namespace {

/// Of the networks that keep their accuracy, so many are inside of the bands.
constexpr double share_inside = 0.95;
/// What the ridge is chosen from: slopes are held back as if so many more networks, with all
/// features as large as usual, had not moved.
constexpr double ridges[] = {1, 3, 10, 30, 100, 300, 1000};
/// So many networks are wanted, whatever is fitted to them.
constexpr size_t least_networks = 8;

std::vector<double> changes(const std::vector<Trained>& networks) {
  std::vector<double> result;
  for (const Trained& network : networks) result.push_back(network.change);
  return result;
}

/// Returns 1 for a feature that promises accuracy, -1 for one that warns.
double sign_of(const Feature& feature) {
  const Metric& metric = find_metric(feature.metric);
  for (const MetricForm& each : metric.contributes.forms) {
    if (each.form == feature.form) return each.direction == Direction::promises ? 1 : -1;
  }
  fail("{} is not compared by its {}", metric.name, name_of(feature.form));
}

/// Returns how large numbers are: the root of the mean of their squares.
double size_of(const std::vector<double>& numbers) {
  double squares = 0;
  for (double number : numbers) squares += number * number;
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

/// The features of networks, each turned so that more is better.
struct Table {
  Matrix values;
  std::vector<double> targets;

  size_t networks() const { return targets.size(); }
};

Table table_of(const std::vector<Feature>& features, const std::vector<Trained>& networks) {
  Table table{Matrix(networks.size(), features.size()), {}};
  for (size_t i = 0; i < networks.size(); ++i) {
    std::vector<double> values = values_of(features, networks[i].comparisons);
    for (size_t f = 0; f < features.size(); ++f) {
      table.values(i, f) = sign_of(features[f]) * values[f];
    }
    table.targets.push_back(networks[i].change);
  }
  return table;
}

Table without(const Table& table, size_t network) {
  Table result{Matrix(table.networks() - 1, table.values.columns()), table.targets};
  result.targets.erase(result.targets.begin() + static_cast<long>(network));
  for (size_t i = 0; i < result.networks(); ++i) {
    for (size_t f = 0; f < table.values.columns(); ++f) {
      result.values(i, f) = table.values(i < network ? i : i + 1, f);
    }
  }
  return result;
}

/// Returns how large each feature is.
std::vector<double> sizes_in(const Table& table) {
  std::vector<double> sizes;
  for (size_t f = 0; f < table.values.columns(); ++f) {
    std::vector<double> column;
    for (size_t i = 0; i < table.networks(); ++i) column.push_back(table.values(i, f));
    double size = size_of(column);
    sizes.push_back(size > 0 ? size : 1);
  }
  return sizes;
}

/// Returns a number with as many digits as rules are written with, and a 0 without a sign.
double rounded(double number) { return std::stod(fmt::format("{:.4g}", number)) + 0.0; }

/// A linear function of all features, and how wrong it is about networks left out: the deviation.
struct Line {
  LeastSquares function;
  double error = 0;
};

/// Fits with a ridge, which treats features as if all were equally large. It says how features
/// share what is lost; as it makes that smaller, too, all slopes are then scaled alike, by least
/// squares.
LeastSquares fitted_with(const Table& table, double ridge) {
  std::vector<double> sizes = sizes_in(table);
  Matrix scaled = table.values;
  for (size_t i = 0; i < table.networks(); ++i) {
    for (size_t f = 0; f < sizes.size(); ++f) scaled(i, f) /= sizes[f];
  }
  LeastSquares line = nonnegative_least_squares(scaled, table.targets, ridge);
  for (size_t f = 0; f < sizes.size(); ++f) line.slopes[f] /= sizes[f];
  double products = 0, squares = 0;
  for (size_t i = 0; i < table.networks(); ++i) {
    double predicted = line.predict(table.values.row(i));
    products += predicted * table.targets[i];
    squares += predicted * predicted;
  }
  for (double& slope : line.slopes) slope *= squares > 0 ? products / squares : 1;
  return line;
}

/// Returns the squared error of each network, predicted by a line that was fitted to all others.
std::vector<double> errors_left_out(const Table& table, double ridge) {
  std::vector<double> squares;
  for (size_t i = 0; i < table.networks(); ++i) {
    LeastSquares line = fitted_with(without(table, i), ridge);
    squares.push_back(std::pow(line.predict(table.values.row(i)) - table.targets[i], 2));
  }
  return squares;
}

/// Fits with the strongest ridge that is about as good as the best one, where each network in turn
/// is left out: no worse than that by more than chance, one standard error.
Line line_through(const Table& table) {
  std::vector<std::vector<double>> errors;
  for (double ridge : ridges) errors.push_back(errors_left_out(table, ridge));
  const std::vector<double>& best = *std::min_element(
      errors.begin(), errors.end(), [](const auto& a, const auto& b) { return mean(a) < mean(b); });
  double most = mean(best) + deviation(best) / std::sqrt(static_cast<double>(best.size()));
  size_t chosen = std::size(ridges) - 1;
  while (mean(errors[chosen]) > most) --chosen;
  return {fitted_with(table, ridges[chosen]), std::sqrt(mean(errors[chosen]))};
}

/// Sets the bands of a rule, so that they hold what keeps its accuracy.
void set_bands(GateRule& rule, const std::vector<Trained>& networks) {
  std::vector<double> network_moves, layer_moves;
  for (const Trained& network : networks) {
    if (network.change < -rule.tolerance) continue;
    for (const Comparison& c : network.comparisons) {
      if (c.metric != rule.features.front().metric) continue;
      network_moves.push_back(std::abs(mean(c.log_ratios)));
      layer_moves.push_back(value_of({c.metric, Form::worst_distance}, c));
    }
  }
  if (network_moves.empty()) {
    fail("no network keeps its accuracy: there is nothing to fit bands to");
  }
  rule.network_band = rounded(quantile(network_moves, share_inside));
  rule.layer_band = std::max(rule.network_band, rounded(quantile(layer_moves, share_inside)));
}

/// Sets what is said of features that layers alone do not tell: which share of the others'
/// prediction theirs is, by least squares.
void set_beyond_first_order(GateRule& rule, const std::vector<Trained>& networks) {
  std::vector<double> known, unknown;
  for (const Trained& network : networks) {
    std::vector<double> values = values_of(rule.features, network.comparisons);
    known.push_back(0);
    unknown.push_back(0);
    for (size_t i = 0; i < values.size(); ++i) {
      bool is_known = find_metric(rule.features[i].metric).contributes.is_known_early();
      (is_known ? known : unknown).back() += rule.weights[i] * values[i];
    }
  }
  double products = 0, squares = 0;
  for (size_t i = 0; i < known.size(); ++i) {
    products += known[i] * unknown[i];
    squares += known[i] * known[i];
  }
  rule.beyond_share = squares > 0 ? rounded(products / squares) : 0;
  for (size_t i = 0; i < known.size(); ++i) unknown[i] -= rule.beyond_share * known[i];
  rule.beyond_deviation = rounded(size_of(unknown));
}

GateRule fitted_to(const std::vector<Feature>& features, const std::vector<Trained>& networks,
                   double tolerance) {
  Table table = table_of(features, networks);
  Line line = line_through(table);
  GateRule rule;
  rule.name = "two-sided";
  rule.tolerance = tolerance;
  rule.deviation = rounded(line.error);
  for (size_t f = 0; f < features.size(); ++f) {
    if (f > 0 && line.function.slopes[f] == 0) continue;
    rule.features.push_back(features[f]);
    rule.weights.push_back(rounded(line.function.slopes[f] * sign_of(features[f])));
  }
  set_bands(rule, networks);
  set_beyond_first_order(rule, networks);
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

std::vector<Feature> features_of(const std::vector<Metric>& metrics) {
  std::vector<Feature> result;
  auto add = [&](const Metric& metric) {
    for (const MetricForm& each : metric.contributes.forms) {
      result.push_back({metric.name, each.form});
    }
  };
  const Metric bands = metrics_used(Contribution::Use::bands).front();
  add(bands);
  for (const Metric& metric : metrics) {
    if (metric.name != bands.name) add(metric);
  }
  return result;
}

std::vector<Metric> metrics_for_rule(const std::string& list) {
  std::vector<Metric> result = metrics_used(Contribution::Use::bands);
  check(result.size() == 1, "one metric has bands");
  std::vector<Metric> others =
      list.empty() ? metrics_used(Contribution::Use::usual) : parse_metrics(list);
  for (const Metric& metric : others) {
    if (metric.name != result.front().name) result.push_back(metric);
  }
  return result;
}

RuleQuality quality_of(const GateRule& rule, const std::vector<Trained>& networks,
                       double tolerance) {
  RuleQuality quality;
  for (const Trained& network : networks) {
    GateVerdict verdict = judge(rule, network.comparisons);
    quality.accepted.push_back(verdict.accepted);
    quality.predicted.push_back(verdict.predicted ? verdict.predicted->points
                                                  : std::log(verdict.ratio));
  }
  rate(quality, changes(networks), tolerance);
  return quality;
}

FittedRule fit_rule(const std::vector<Feature>& features, const std::vector<Trained>& networks,
                    double tolerance) {
  if (networks.size() < least_networks) {
    fail("{} networks are too few to fit a rule to", networks.size());
  }
  FittedRule result{fitted_to(features, networks, tolerance), {}};
  for (size_t i = 0; i < networks.size(); ++i) {
    std::vector<Trained> others = networks;
    others.erase(others.begin() + static_cast<long>(i));
    GateVerdict verdict = judge(fitted_to(features, others, tolerance), networks[i].comparisons);
    result.quality.accepted.push_back(verdict.accepted);
    result.quality.predicted.push_back(verdict.predicted->points);
  }
  rate(result.quality, changes(networks), tolerance);
  return result;
}

}  // namespace lathe
