// Judges: each file X.cpp of this folder decides whether what a step made may be accepted. Program
// steps are judged by their dependences, algebraic ones by how much they round, neural ones by
// capacity; a recipe is judged step by step.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/verdict.h"
#include "transforms/transform.h"

namespace lathe {

/// What a user allows.
struct Limits {
  /// The error of an algebraic step, as a multiple of the outputs' root mean square; 0 forbids all.
  double error = std::numeric_limits<double>::infinity();
};

struct Judge {
  std::string name;
  Transform::Kind judges;  ///< the kind of step it judges
  std::string summary;     ///< one line
  Verdict (*judge)(const Nest& before, const Applied& after, const Limits& limits);
};

namespace legality {
/// Returns every judge, sorted by name.
const std::vector<Judge>& all();
}  // namespace legality

/// One step of a recipe, what it made, and the verdict. A refused step leaves the nest as it was.
struct Judged {
  Step step;
  Nest nest;
  Verdict verdict;
};

/// Applies one step and judges it.
Judged try_step(const Nest& nest, const Step& step, const Limits& limits = {});

/// Applies and judges the steps of a recipe one after the other; ends with the first refusal.
std::vector<Judged> try_recipe(const Nest& nest, const Recipe& recipe, const Limits& limits = {});

/// Applies a recipe whose steps are all accepted; throws a UserError, with the reason, if one is
/// refused. The same recipe gives the same nest, byte for byte.
Nest replay(const Nest& nest, const Recipe& recipe, const Limits& limits = {});

}  // namespace lathe
