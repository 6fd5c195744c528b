// Schedules that are inverted digit by digit.
#include <gtest/gtest.h>

#include "legality/legality.h"
#include "nest/text.h"
#include "support/brute_force.h"

namespace lathe::test {
namespace {

constexpr const char* box = R"(nest box
tensor A: output f32[4, 2, 2]
tensor X: input f32[4, 2, 2]
statement S[i < 4, j < 2, k < 2]:
  A[i, j, k] = X[i, k, j] + A[i, j, k]
)";

TEST(Inverse, OfWhatStepsMake) {
  for (const char* recipe :
       {"reorder(k, i, j) -> fuse(k, i)", "fuse(i, j) -> fuse(i_j, k)",
        "split(i, 2) -> reorder(k, i.i, i.o, j) -> fuse(i.i, i.o) -> fuse(i.i_i.o, j)",
        "fuse(i, j) -> split(i_j, 3)", "split(i, 3) -> split(i.i, 2)",
        "fuse(i, j) -> split(i_j, 3) -> interchange(i_j.o, i_j.i) -> fuse(i_j.i, i_j.o)"}) {
    SCOPED_TRACE(recipe);
    Context ctx;
    Nest nest = replay(parse_nest(ctx, box), parse_recipe(recipe));
    Nest parsed = parse_nest(ctx, print(nest));
    EXPECT_EQ(print(parsed), print(nest));
    EXPECT_EQ(outputs(parsed), outputs(nest));
  }
}

TEST(Inverse, NeedsLoopsThatTellInstancesApart) {
  Context ctx;
  std::string text = fmt::format("{}schedule:\n  for x = i + j, k: S\n", box);
  EXPECT_THROW(parse_nest(ctx, text), UserError);
}

}  // namespace
}  // namespace lathe::test
