// start.cpp: what accumulates gets a statement that sets it first.
//
//   start():   for i, j: O[i] += X[i, j]  ->  for i: O[i] = 0;  for i, j: O[i] += X[i, j]
//
// A nest means the same without it: elements that are only added to begin at 0. In memory nothing
// begins by itself, so code needs the statement, and where it runs is for the recipe to say.
#include "nest/starts.h"

#include "transforms/transform.h"

namespace lathe::transforms {
namespace {

Applied add_starts(const Nest& nest, const Arguments&) {
  Nest result = with_starts(nest);
  if (result.statements().size() == nest.statements().size()) {
    fail("everything that accumulates is set already");
  }
  return {result, ""};
}

/// It changes nothing that a search could prefer.
std::vector<Step> candidates(const Nest&) { return {}; }

}  // namespace

Transform start() {
  return {"start",
          Transform::Kind::program,
          {},
          "for i: O += S(i)  ->  O = 0; for i: O += S(i)",
          add_starts,
          candidates};
}

}  // namespace lathe::transforms
