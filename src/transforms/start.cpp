// start.cpp: what accumulates gets a statement that sets it first.
//
//   start():   for i, j: O[i] += X[i, j]  ->  for i: O[i] = 0;  for i, j: O[i] += X[i, j]
//
// A nest means the same without it: elements that are only added to begin at 0. In memory nothing
// begins by itself, so code needs the statement, and where it runs is for the recipe to say.
#include "base/element.h"
#include "nest/starts.h"

#include "transforms/transform.h"

namespace lathe::transforms {
namespace {

Applied add_starts(const Nest& nest, const Arguments&) {
  Nest result = with_starts(nest);
  if (result.statements().size() == nest.statements().size()) {
    fail("everything that accumulates is set already");
  }
  for (const Statement& s : result.statements()) {
    Element element = nest.tensors()[s.write.tensor].element;
    if (s.update != Update::maximum || !is_integral(element)) continue;
    fail("a maximum of {} begins below all of them, and {} has nothing that is", name_of(element),
         nest.tensors()[s.write.tensor].name);
  }
  return {result, ""};
}

/// It changes nothing that a search could prefer.
std::vector<Step> candidates_of_start(const Nest&) { return {}; }

}  // namespace

Transform start() {
  return {"start",    Transform::Kind::program, {}, "for i: O += S(i)  ->  O = 0; for i: O += S(i)",
          add_starts, candidates_of_start};
}

}  // namespace lathe::transforms
