// Calibration: how well scores at initialisation predict what training will say.
//
//   correlated("naswot", scores, accuracies)            ranks, with their intervals
//   FittedRule fitted = fit_rule(features_of(metrics), networks, 0.5);
//   fitted.rule                                          weights and bands, for the gate
//   fitted.quality.area                                  of networks that it was not fitted to
//
// There are few networks and many features, so no features are selected. The rule is a linear
// function of all of them. Each feature may count in one direction only, which its metric says: to
// be further from the original never promises more accuracy, and to have more MACs never promises
// less. A feature that would count the other way gets the weight 0. A ridge penalty keeps the other
// weights small, so that features which say nearly the same share what is lost; its strength is
// chosen by leaving networks out. Then all weights are scaled alike, as the penalty would otherwise
// predict too little. There is no intercept: all features are 0 for the original, and so is the
// prediction. To measure the quality, each network is judged by a rule that was fitted in the same
// way without it.
#pragma once

#include "capacity/gate.h"

namespace lathe {

/// How well the order of scores agrees with the order of accuracies.
struct Correlation {
  std::string metric;
  size_t count = 0;
  double spearman = 0, kendall = 0;
  Interval spearman_interval, kendall_interval;  ///< 95 %, by bootstrap
};

/// Compares the scores of networks with their accuracies.
Correlation correlated(const std::string& metric, const std::vector<double>& scores,
                       const std::vector<double>& accuracies);

/// A network that was made of the original and trained.
struct Trained {
  std::string name;
  double change = 0;  ///< of the accuracy, beside the original's, in points
  std::vector<Comparison> comparisons;
};

/// Returns the metrics that a rule looks at. The one that has bands is the first. Then come those
/// of a list, as parse_metrics() reads it, or the usual ones if the list is empty.
std::vector<Metric> metrics_for_rule(const std::string& list);

/// Returns the features of these metrics that a rule may look at. Those of the metric that has
/// bands come first.
std::vector<Feature> features_of(const std::vector<Metric>& metrics);

/// How well a rule tells networks that keep their accuracy, within a tolerance, from those that do
/// not.
struct RuleQuality {
  size_t kept = 0, lost = 0;  ///< networks
  size_t kept_accepted = 0, lost_accepted = 0;
  double area = 0.5, spearman = 0;  ///< of the prediction
  Interval area_interval, spearman_interval;
  std::vector<double> predicted;  ///< of each network: a change of accuracy, or just a rank
  std::vector<bool> accepted;

  double false_rejections() const;   ///< the share refused, of those that keep their accuracy
  double false_acceptances() const;  ///< the share accepted, of those that lose it
};

/// Judges each network by a rule. Nothing is fitted.
RuleQuality quality_of(const GateRule& rule, const std::vector<Trained>& networks,
                       double tolerance);

struct FittedRule {
  GateRule rule;
  RuleQuality quality;  ///< each network judged by a rule that was fitted to all others
};

/// Fits the two-sided rule. Weights are found by least squares without an intercept. The bands are
/// just wide enough for nearly all networks that keep their accuracy. Features of weight 0 are left
/// out, except the first.
FittedRule fit_rule(const std::vector<Feature>& features, const std::vector<Trained>& networks,
                    double tolerance);

}  // namespace lathe
