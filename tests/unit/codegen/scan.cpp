// Scanned loops: full and partial tiles apart, what no cut removes as a guard.
#include <gtest/gtest.h>

#include "codegen/loops.h"
#include "legality/legality.h"
#include "nest/starts.h"
#include "nest/text.h"
#include "support/random_nest.h"

namespace lathe::test {
namespace {

std::string loops_of(const std::string& nest, const std::string& recipe) {
  Context ctx;
  return print(scan(replay(load(ctx, nest), parse_recipe(recipe))));
}

const std::string scale =
    "nest scale\ntensor A: output f32[10]\ntensor X: input f32[10]\n"
    "statement S[i < 10]:\n  A[i] = 2 * X[i]\n";

TEST(Scan, AFullSplitIsOneLoop) {
  EXPECT_EQ(loops_of(scale, "split(i, 5)"),
            "for i.o < 2:\n"
            "  for i.i < 5:\n"
            "    A[5*i.o + i.i] = 2 * X[5*i.o + i.i]\n");
}

TEST(Scan, PartialTilesAreApart) {
  EXPECT_EQ(loops_of(scale, "split(i, 4)"),
            "for i.o < 2:\n"
            "  for i.i < 4:\n"
            "    A[4*i.o + i.i] = 2 * X[4*i.o + i.i]\n"
            "i.o = 2:\n"
            "  for i.i < 2:\n"
            "    A[4*i.o + i.i] = 2 * X[4*i.o + i.i]\n");
}

TEST(Scan, AParallelLoopStaysOne) {
  Context ctx;
  LoopTree tree = scan(replay(load(ctx, scale), parse_recipe("split(i, 4) -> parallel(i.o)")));
  ASSERT_EQ(tree.places.size(), 1u);
  ASSERT_EQ(tree.places[0].size(), 1u);
  const LoopNode& loop = tree.places[0][0];
  EXPECT_EQ(loop.mark, Mark::parallel);
  EXPECT_EQ(loop.extent(), 3);
  ASSERT_EQ(loop.body.size(), 2u);
  EXPECT_EQ(loop.body[0].kind, LoopNode::Kind::range);
  EXPECT_EQ(std::pair(loop.body[0].from, loop.body[0].to), std::pair(0L, 2L));
  EXPECT_EQ(loop.body[1].kind, LoopNode::Kind::range);
  EXPECT_EQ(std::pair(loop.body[1].from, loop.body[1].to), std::pair(2L, 3L));
}

/// Are there guards among these nodes?
bool has_guard(const std::vector<LoopNode>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const LoopNode& node) {
    return !node.guard.empty() || has_guard(node.body);
  });
}

TEST(Scan, WhatNoCutRemovesIsAGuard) {
  struct {
    const char* where;
    bool guarded;
  } table[] = {
      {"", false},
      {" where i <= j", true},
      {" where i < 3", false},
      {" where i % 2 = 0", true},
      {" where i < 1 or j < 2", true},
  };
  for (const auto& [where, guarded] : table) {
    Context ctx;
    std::string text = fmt::format(
        "nest t\ntensor A: output f32[8, 8]\nstatement S[i < 8, j < 8]{}:\n  A[i, j] = 1\n", where);
    EXPECT_EQ(has_guard(scan(parse_nest(ctx, text)).places.front()), guarded) << text;
  }
}

TEST(Scan, SplitConvolutionsHaveNoGuards) {
  for (const char* recipe :
       {"split(co, 4)", "split(ow, 4) -> split(co, 3)", "tile(co, 4, ow, 5) -> split(ci, 2)",
        "split(ow, 6) -> reorder(ow.o, co, ow.i)"}) {
    Context ctx;
    Nest nest = parse_op(ctx, "conv(co=10, ci=3, oh=4, ow=13, k=3)");
    for (const auto& place : scan(replay(nest, parse_recipe(recipe))).places) {
      EXPECT_FALSE(has_guard(place)) << recipe;
    }
  }
}

TEST(Starts, AreSetOnceJustBefore) {
  struct {
    const char *text, *wanted;  // the first statement
  } table[] = {
      {"matmul(i=2, j=3, k=4)", "= 0"},
      {"max_pool(c=2, oh=2, ow=2, k=2)", "= -inf"},
      {"max_pool(i8[1x2x4x4], kernel=[2, 2])", "= -128"},
  };
  for (const auto& [text, wanted] : table) {
    Context ctx;
    Nest nest = parse_op(ctx, text), started = with_starts(nest);
    EXPECT_EQ(started.statements().size(), nest.statements().size() + 1) << text;
    EXPECT_NE(print(scan(started)).find(wanted), std::string::npos) << print(scan(started));
    EXPECT_EQ(with_starts(started).statements().size(), started.statements().size()) << text;
  }
}

TEST(Starts, WhatIsAssignedNeedsNone) {
  for (const char* text : {"relu(c=3, h=2, w=2)", "conv(co=2, ci=2, oh=2, ow=2, k=1, bias=1)",
                           "concat(c1=2, c2=3, h=2, w=2)"}) {
    Context ctx;
    Nest nest = parse_op(ctx, text);
    EXPECT_EQ(with_starts(nest).statements().size(), nest.statements().size()) << text;
  }
}

TEST(Starts, WhatIsOnlySetAfterwardsNeedsOne) {
  // The rest is copied from sums that no statement begins, though it is the first one listed.
  Context ctx;
  Nest nest = replay(parse_op(ctx, "softmax(bf16[1x25], axis=0)"),
                     parse_recipe("keep(16, repeat) -> bottleneck(2, expand)"));
  std::string loops = print(scan(with_starts(nest)));
  for (const char* wanted : {"M.narrow[0, c] = -inf", "M[i0, i1] = 0", "S[0, c] = 0"}) {
    EXPECT_NE(loops.find(wanted), std::string::npos) << wanted << "\n" << loops;
  }
}

TEST(Starts, StandJustBeforeTheFirstThatTouches) {
  // Between what comes before and the sum, so that loops can be merged with those of the sum.
  Context ctx;
  Nest nest = with_starts(parse_nest(ctx,
                                     "nest t\ntensor X: input f32[4]\ntensor Y: local f32[4]\n"
                                     "tensor A: output f32[4]\n"
                                     "statement S[i < 4]:\n  Y[i] = X[i]\n"
                                     "statement T[i < 4, j < 4]:\n  A[i] += Y[j]\n"));
  std::string wanted[] = {"S", "start", "T"};
  std::vector<size_t> sequence_now = sequence(nest.order);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(nest.statements()[sequence_now[i]].name, wanted[i]);
  }
}

}  // namespace
}  // namespace lathe::test
