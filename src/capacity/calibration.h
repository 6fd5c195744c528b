// Calibration: how far scores at initialisation tell what training will say.
//
//   correlated("naswot", scores, accuracies)            ranks, with their intervals
//   FittedRule fitted = fit_rule(features_of(metrics), networks, 0.5);
//   fitted.rule                                          weights and bands, for the gate
//   fitted.quality.area                                  of networks that it was not fitted to
//
// There are few networks and many features, so nobody chooses among them. The rule is a linear
// function of all. Each may count in one direction only, which its metric says: to be further from
// the original never promises more accuracy, to have more MACs never less. What would count the
// other way counts nothing. A ridge holds the others back; leaving networks out chooses it. There
// is no intercept: all features are 0 for the original, and so is the prediction. For the quality
// all of that is done anew without the network in question.
#pragma once

#include "capacity/gate.h"

namespace lathe {

/// How well scores follow accuracies in their order.
struct Correlation {
  std::string metric;
  size_t count = 0;
  double spearman = 0, kendall = 0;
  Interval spearman_interval, kendall_interval;  ///< 95 %, by bootstrap
};
Correlation correlated(const std::string& metric, const std::vector<double>& scores,
                       const std::vector<double>& accuracies);

/// A network that was made of the original and trained.
struct Trained {
  std::string name;
  double change = 0;  ///< of the accuracy, beside the original's, in points
  std::vector<Comparison> comparisons;
};

/// Returns the metrics that a rule looks at: the one that has bands, then those of a list as
/// parse_metrics() reads it, or the usual ones if the list is empty.
std::vector<Metric> metrics_for_rule(const std::string& list);

/// Returns what a rule may look at of these metrics; the metric that has bands comes first.
std::vector<Feature> features_of(const std::vector<Metric>& metrics);

/// How well a rule tells networks that keep their accuracy, within a tolerance, from those that do
/// not.
struct RuleQuality {
  size_t kept = 0, lost = 0;  ///< networks
  size_t kept_accepted = 0, lost_accepted = 0;
  double area = 0.5, spearman = 0;  ///< of the prediction
  Interval area_interval, spearman_interval;
  std::vector<double> predicted;  ///< of each network: a change of accuracy, or what orders them
  std::vector<bool> accepted;

  double false_rejections() const;  ///< of those that keep their accuracy, the share refused
  double false_acceptances() const;
};

/// Judges each network by a rule as it is.
RuleQuality quality_of(const GateRule& rule, const std::vector<Trained>& networks,
                       double tolerance);

struct FittedRule {
  GateRule rule;
  RuleQuality quality;  ///< each network judged by a rule that was fitted to all others
};

/// Fits the two-sided rule: weights by least squares without an intercept, bands that hold nearly
/// all networks which keep their accuracy. Features that count nothing are left out, except the
/// first.
FittedRule fit_rule(const std::vector<Feature>& features, const std::vector<Trained>& networks,
                    double tolerance);

}  // namespace lathe
