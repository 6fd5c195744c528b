// Chooses one thing for each of many places, so that the sum of costs is least and other sums stay
// within limits. It does so by integer programming.
//
//   ChoiceProblem problem{times, {{macs, least, infinity}}};
//   std::optional<std::vector<size_t>> choice = cheapest(problem);
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace lathe {

/// A number for each choice at each place. Infinity: not to be chosen.
using ChoiceTable = std::vector<std::vector<double>>;

struct ChoiceLimit {
  ChoiceTable amounts;
  double least = -std::numeric_limits<double>::infinity();  ///< of the sum over places
  double most = std::numeric_limits<double>::infinity();
};

struct ChoiceProblem {
  ChoiceTable costs;
  std::vector<ChoiceLimit> limits;
};

/// Returns the choices with the least sum of costs; nothing if none are within the limits. The sum
/// is at most a thousandth above the least one. If that takes too long, the best choices that were
/// found are returned.
std::optional<std::vector<size_t>> cheapest(const ChoiceProblem& problem);

}  // namespace lathe
