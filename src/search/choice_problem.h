// One choice for each of many places, at the least cost, within limits on sums: exactly, by integer
// programming.
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

/// Returns the choices whose costs are least together; nothing if none are within the limits. What
/// is returned costs at most one in a thousand more than the least, unless there are too many to
/// look at: then it is the best of those.
std::optional<std::vector<size_t>> cheapest(const ChoiceProblem& problem);

}  // namespace lathe
