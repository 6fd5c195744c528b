// Loops that count further than a statement needs, because others share them.
#include <gtest/gtest.h>

#include "codegen/loops.h"
#include "legality/legality.h"
#include "nest/text.h"
#include "support/brute_force.h"

namespace lathe::test {
namespace {

constexpr const char* recurrence = R"(nest recurrence
tensor A: output f32[8, 2]
tensor L: output f32[8]
tensor X: input f32[8, 2]
statement S[i < 6, j < 2]:
  A[i + 1, j] += X[i, j]
statement T[i < 6, j < 2]:
  L[i + 1] = A[i, j]
schedule:
  for i:
    for j: T
    for j: S
)";

/// Of i < 6 in two rows of four, the last two columns have one row: S.1 and T.1 stop there.
Nest cut_remainder(isl::ctx ctx) {
  return replay(parse_nest(ctx, recurrence), parse_recipe("split(i, 4) -> split_range(i.i, 2)"));
}

TEST(LoopsBeyondDomains, RunOnlyInstances) {
  Context ctx;
  EXPECT_EQ(outputs(cut_remainder(ctx)), outputs(parse_nest(ctx, recurrence)));
}

TEST(LoopsBeyondDomains, SurvivePrintingAndParsing) {
  Context ctx;
  Nest nest = cut_remainder(ctx), parsed = parse_nest(ctx, print(nest));
  EXPECT_EQ(print(parsed), print(nest));
  EXPECT_EQ(outputs(parsed), outputs(nest));
}

TEST(LoopsBeyondDomains, HaveConditionsInCode) {
  Context ctx;
  EXPECT_NE(print(scan(cut_remainder(ctx))).find("if "), std::string::npos);
}

TEST(LoopsBeyondDomains, EmptyPartsAreLeftOut) {
  Context ctx;
  Nest nest = parse_nest(ctx, R"(nest parts
tensor A: output f32[3]
tensor B: output f32[3]
statement S[i < 2]:
  A[(i + 1) / 2] = 1
statement T[i < 3]:
  B[i] = 1
schedule:
  for i:
    S
    T
)");
  Nest cut = replay(nest, parse_recipe("split_range(i, 2)"));
  EXPECT_EQ(cut.statements().size(), 3u);
  EXPECT_EQ(outputs(cut), outputs(nest));
}

}  // namespace
}  // namespace lathe::test
