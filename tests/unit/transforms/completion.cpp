// What neural steps refuse because it could not be completed, and what completions fill.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

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

/// Which rows does the statement write? They are dimension 1 of what it writes.
std::set<long> rows_written(const Nest& nest, const std::string& name) {
  std::set<long> rows;
  for (const Statement& s : nest.statements()) {
    if (s.name != name) continue;
    isl::set at = s.domain.apply(s.write.at.as_map());
    for (long row = 0; row < nest.tensors()[s.write.tensor].shape[1]; ++row) {
      isl::aff index = poly::coordinate(at.space(), 1);
      if (!at.intersect(index.eq_set(poly::constant(at.space(), row))).is_empty()) rows.insert(row);
    }
  }
  return rows;
}

// A fused loop of a sum and of rows comes to each row several times.

TEST(Completion, IsNotNeededWhereAFusedLoopStillWritesAll) {
  Context ctx;
  Nest nest = parse_op(ctx, "conv(co=4, ci=4, oh=2, ow=4, k=1)");
  Nest fused = replay(nest, parse_recipe("fuse(ci, oh)"));
  expect_unfit(fused, "group(4, repeat)");
  EXPECT_EQ(replay(fused, parse_recipe("group(4)")).statements().size(), 1u);
  fused = replay(nest, parse_recipe("reorder(ci, oh, co, ow) -> fuse(ci, oh)"));
  expect_unfit(fused, "bottleneck(2, repeat)");
  EXPECT_EQ(replay(fused, parse_recipe("bottleneck(2)")).statements().size(), 1u);
}

TEST(Completion, KeepsWhatIsComputed) {
  Context ctx;
  Nest nest = parse_op(ctx, "conv(co=2, ci=3, oh=4, ow=2, k=1)");
  Nest narrow = replay(
      nest, parse_recipe("reorder(ci, oh, co, ow) -> fuse(ci, oh) -> bottleneck(4, repeat)"));
  EXPECT_EQ(rows_written(narrow, "conv"), (std::set<long>{0, 1, 2}));
  EXPECT_EQ(rows_written(narrow, "fill"), std::set<long>{3});
}

}  // namespace
}  // namespace lathe::test
