// Chooses one thing for each of many places, so that the sum of costs is least and other sums stay
// within limits. It does so by integer programming.
//
//   ChoiceProblem problem{times, {{macs, least, infinity}}};
//   std::optional<std::vector<size_t>> choice = cheapest(problem);
//
// Places can be made to agree. How many channels are left is a place of its own, whose choices are
// few widths. Each layer that makes or reads the channels agrees with it: for every width, the sum
// of the layer's choices that have it is the choice of that width. There is one such row for each
// width and layer. Together they are much tighter than one row that compares numbers of channels:
// half of a wide variant and half of a narrow one are not taken for one of middle width. So the
// relaxed program, which has no integers, is nearly the program itself, and few branches are
// needed.
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

/// A choice at a place.
struct PlacedChoice {
  size_t place, choice;
};

/// One of the first is chosen just if one of the second is. Each side is of one place, so at most
/// one of its choices is taken.
struct ChoiceAgreement {
  std::vector<PlacedChoice> first, second;
};

struct ChoiceProblem {
  ChoiceTable costs;
  std::vector<ChoiceLimit> limits;  ///< amounts of places that a limit does not have are 0
  std::vector<ChoiceAgreement> agreements = {};
};

/// Returns the choices with the least sum of costs; nothing if none are within the limits. The sum
/// is at most a thousandth above the least one. If that takes too long, the best choices that were
/// found are returned.
std::optional<std::vector<size_t>> cheapest(const ChoiceProblem& problem);

}  // namespace lathe
