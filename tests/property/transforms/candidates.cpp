// Every step that a transformation sees on a nest applies to it.
#include <gtest/gtest.h>

#include "support/brute_force.h"
#include "support/random_recipe.h"

namespace lathe::test {
namespace {

TEST(Candidates, AllApply) {
  for_each_case(400, [](Case& trial) {
    Context ctx;
    Walk walk = random_walk(trial, ctx, random_nest(trial.random), Steps::all);
    trial.story += print(walk.nest);
    for (const Step& step : candidates(walk.nest)) {
      SCOPED_TRACE(print(step));
      EXPECT_NO_THROW({ EXPECT_EQ(refute_places(apply(walk.nest, step).nest), ""); });
    }
  });
}

}  // namespace
}  // namespace lathe::test
