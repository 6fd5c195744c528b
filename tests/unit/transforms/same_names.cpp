// Loops of one name in several statements, and one loop named in two ways.
#include <gtest/gtest.h>

#include "legality/legality.h"
#include "nest/text.h"

namespace lathe::test {
namespace {

/// Two statements with loops of the same names; T's are shorter.
constexpr const char* two_statements = R"(nest two
tensor A: output f32[20]
tensor B: output f32[20]
tensor X: input f32[20]
statement S[i < 8, j < 6]:
  A[i + j] += X[i]
statement T[i < 5, j < 2]:
  B[i] += X[i + j]
)";

TEST(SameNames, ALoopIsNotNamedTwice) {
  Context ctx;
  Nest nest = parse_nest(ctx, two_statements);
  for (const char* step : {"reorder(i, j, S:i)", "tile(i, 2, S:i, 2)", "interchange(i, S:i)"}) {
    EXPECT_THROW(apply(nest, parse_recipe(step).front()), UserError) << step;
  }
}

TEST(SameNames, CandidatesSuitTheShortestLoop) {
  Context ctx;
  Nest nest = parse_nest(ctx, two_statements);
  for (const Step& step : candidates(nest)) EXPECT_NO_THROW(apply(nest, step)) << print(step);
}

TEST(SameNames, LoopsWithDifferentMarksAreDifferent) {
  Context ctx;
  Nest nest = parse_nest(ctx, R"(nest marks
tensor A: output f32[4, 4]
tensor B: output f32[4, 4]
statement S[i < 4, j < 4]:
  A[i, j] = 1
statement T[i < 4, j < 4]:
  B[i, j] = 1
schedule:
  for i:
    for j parallel: S
    for j: T
)");
  Nest swapped = replay(nest, parse_recipe("interchange(i, j)"));
  EXPECT_EQ(shared_loops(swapped.order[0], swapped.order[1]), 0u);
}

}  // namespace
}  // namespace lathe::test
