// Where a network stands: what the tables say of it beside what the rule and the user ask.
#pragma once

#include "strategies/strategy.h"

namespace lathe {

/// What exact evaluation said beyond the tables. A network differs from them in proportion to its
/// size, size_reduced().
struct TableCorrection {
  double points = 0;           ///< predicted, for each unit of size
  double network = 0;          ///< log_ratio of its scores, for each unit of size
  std::vector<double> layers;  ///< log_ratio of each site; empty: nothing
  double slower = 1;           ///< how many times as long it takes
  double bands = 1;            ///< share of the rule's bands that may be used
};

/// What there is to say of an assignment.
struct Standing {
  double cost = 0;  ///< to become less: seconds, or, where the time is given, points that are lost
  /// What is left of each limit: negative where it is broken, infinite where there is none. Shares,
  /// points and logarithms: all are of like size.
  std::vector<double> left;
  /// The same of limits that each layer keeps by itself.
  double left_of_layers = 0;

  bool is_allowed() const;
};

/// Returns what the tables say of an assignment.
Standing standing_of(const StrategyInput& input, const Assignment& assignment,
                     const TableCorrection& correction = {});

/// Returns how much smaller a site becomes, and how much all sites do: logarithms of MACs, summed.
double size_reduced(const NetworkSpace& space, size_t site, size_t variant);
double size_reduced(const NetworkSpace& space, const Assignment& assignment);

}  // namespace lathe
