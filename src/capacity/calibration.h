// Calibration: how far scores at initialisation tell what training will say.
//
//   correlated("fisher", scores, accuracies)            ranks, with their intervals
//   FittedRule fitted = fit_rule(features_of(metrics), networks, 0.5);
//   fitted.rule                                          weights and bands, for the gate
//   fitted.quality.area                                  of networks that it was not fitted to
//
// There are few networks and many features that could be looked at, so nobody chooses among them:
// the rule is a linear function of all, of which is known beforehand in which direction each may
// count (being further from the original never promises more, having more MACs never less). What
// would count the other way counts nothing, and the others are held back by a ridge that is chosen
// by leaving networks out. For the quality all that is done anew without the network in question.
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

/// Returns what a rule may look at of these metrics, the distance of Fisher Potential first.
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

/// Fits the two-sided rule: weights by least squares, bands that hold nearly all networks which
/// keep their accuracy. Features that count nothing are left out, except the first.
FittedRule fit_rule(const std::vector<Feature>& features, const std::vector<Trained>& networks,
                    double tolerance);

}  // namespace lathe
