// What neural steps refuse because it could not be completed.
#include <gtest/gtest.h>

#include <algorithm>

#include "legality/legality.h"
#include "nest/text.h"
#include "ops/op.h"

namespace lathe::test {
namespace {

void expect_unfit(const Nest& nest, const std::string& text) {
  Step step = parse_recipe(text).front();
  EXPECT_THROW(apply(nest, step), UserError) << text;
  std::vector<Step> seen = candidates(nest);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), step), 0) << text;
}

TEST(Completion, DoesNotPropagateAwayOtherStatements) {
  Context ctx;
  Nest nest = parse_op(ctx, "conv(co=6, ci=2, oh=4, ow=2, k=2, bias=1)");
  expect_unfit(replay(nest, parse_recipe("split_range(co, 1/2)")), "bottleneck(3)");
}

TEST(Completion, DoesNotShrinkWhatTheStatementReadsItself) {
  Context ctx;
  Nest nest = parse_nest(ctx, R"(nest own
tensor A: output f32[5, 3]
statement S[i < 4, j < 3]:
  A[i, j] += A[j + 2, 1]
)");
  expect_unfit(nest, "bottleneck(2)");
}

TEST(Completion, CountsOnlyTheIterationsOfItsStatement) {
  Context ctx;
  Nest nest = parse_nest(ctx, R"(nest shared
tensor A: output f32[4, 4]
tensor B: output f32[4]
tensor X: input f32[4]
statement S[i < 2, j < 4]:
  A[i, j] += X[i]
statement T[i < 4]:
  B[i] = X[i]
schedule:
  for i:
    for j: S
    T
)");
  expect_unfit(nest, "group(4, repeat)");
  Nest grouped = apply(nest, parse_recipe("group(2, repeat)").front()).nest;
  EXPECT_NO_THROW(verify(grouped.tensors(), grouped.statements()));
}

}  // namespace
}  // namespace lathe::test
