// merge: statements in loops of their own come into one.
#include <gtest/gtest.h>

#include "codegen/loops.h"
#include "legality/legality.h"
#include "nest/text.h"
#include "support/brute_force.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

const std::string pair =
    "nest t\ntensor X: input f32[4, 3]\ntensor Y: output f32[4, 3]\ntensor A: output f32[4, 3]\n"
    "statement S[i < 4, j < 3]:\n  Y[i, j] = 2 * X[i, j]\n"
    "statement T[i < 4, j < 3]:\n  A[i, j] = Y[i, j] + 1\n";

TEST(Merge, TwoLoopsBecomeOne) {
  Context ctx;
  Nest nest = parse_nest(ctx, pair);
  EXPECT_EQ(print(scan(replay(nest, parse_recipe("merge(i)")))),
            "for i < 4:\n"
            "  for j < 3:\n"
            "    Y[i, j] = 2 * X[i, j]\n"
            "  for j < 3:\n"
            "    A[i, j] = Y[i, j] + 1\n");
  EXPECT_EQ(print(scan(replay(nest, parse_recipe("merge(i) -> merge(j)")))),
            "for i < 4:\n"
            "  for j < 3:\n"
            "    Y[i, j] = 2 * X[i, j]\n"
            "    A[i, j] = Y[i, j] + 1\n");
  EXPECT_EQ(outputs(replay(nest, parse_recipe("merge(i) -> merge(j)"))), outputs(nest));
}

TEST(Merge, WhatIsTogetherStaysTogether) {
  Context ctx;
  std::string text = pair + "statement U[i < 4, j < 3]:\n  Z[i, j] = A[i, j]\n";
  text.insert(text.find("statement S"), "tensor Z: output f32[4, 3]\n");
  Nest nest = parse_nest(ctx, text);
  Nest apart = replay(nest, parse_recipe("rename(S:i, k) -> merge(i) -> merge(j)"));
  EXPECT_EQ(shared_loops(apart.order[1], apart.order[2]), 2u);
  Nest merged = replay(apart, parse_recipe("rename(S:k, i) -> merge(i)"));
  EXPECT_EQ(shared_loops(merged.order[0], merged.order[1]), 1u);
  EXPECT_EQ(shared_loops(merged.order[1], merged.order[2]), 2u);
  EXPECT_EQ(outputs(merged), outputs(nest));
}

TEST(Merge, LoopsOfAnotherNameCountAsTheFirst) {
  Context ctx;
  std::string text = pair;
  for (size_t at = text.find("statement T"); (at = text.find("i", at)) != std::string::npos; ++at) {
    if (text.substr(at, 3) == "i <" || text.substr(at, 2) == "i,") text[at] = 'g';
  }
  Nest nest = parse_nest(ctx, text);
  Nest merged = replay(nest, parse_recipe("merge(i, g)"));
  EXPECT_EQ(shared_loops(merged.order[0], merged.order[1]), 1u);
  EXPECT_EQ(merged.order[1].loops[0].name, "i");
  EXPECT_EQ(outputs(merged), outputs(nest));
}

TEST(Merge, IsRefusedWhereItReversesADependence) {
  Context ctx;
  std::string text = pair;
  text.replace(text.find("Y[i, j] + 1"), 11, "Y[3 - i, j]");
  Judged judged = try_step(parse_nest(ctx, text), {"merge", {std::string("i")}});
  EXPECT_FALSE(judged.verdict.accepted());
}

TEST(Merge, LoopsThatDifferAreAnError) {
  Context ctx;
  std::string text = pair;
  text.replace(text.find("T[i < 4"), 7, "T[i < 2");
  expect_failure(
      [&] {
        apply(parse_nest(ctx, text), {"merge", {std::string("i")}});
      },
      {"loop 'i' of statement 'T' differs"});
  expect_failure([&] { apply(parse_nest(ctx, pair), {"merge", {std::string("j")}}); }, {"differs"});
}

TEST(Merge, ALoopThatDiffersKeepsOthersApart) {
  Context ctx;
  std::string text =
      "nest t\ntensor X: input f32[4]\ntensor A: output f32[4]\ntensor B: output f32[4]\n"
      "tensor C: output f32[4]\ntensor D: output f32[2]\n"
      "statement P[i < 4]:\n  A[i] = X[i]\nstatement Q[i < 2]:\n  D[i] = X[i]\n"
      "statement R[i < 4]:\n  B[i] = X[i]\nstatement S[i < 4]:\n  C[i] = X[i]\n";
  Nest nest = parse_nest(ctx, text), merged = replay(nest, parse_recipe("merge(i)"));
  EXPECT_EQ(shared_loops(merged.order[0], merged.order[2]), 0u);
  EXPECT_EQ(shared_loops(merged.order[2], merged.order[3]), 1u);
  EXPECT_EQ(outputs(merged), outputs(nest));
}

TEST(Merge, OneLoopAloneIsAnError) {
  Context ctx;
  Nest merged = apply(parse_nest(ctx, pair), {"merge", {std::string("i")}}).nest;
  expect_failure([&] { apply(merged, {"merge", {std::string("i")}}); }, {"only one loop 'i'"});
}

TEST(Merge, CandidatesAreLoopsApart) {
  Context ctx;
  Nest nest = parse_nest(ctx, pair);
  const Transform& merge = find_transform("merge");
  EXPECT_EQ(print(merge.candidates(nest)), "merge(i)");
  EXPECT_EQ(print(merge.candidates(replay(nest, parse_recipe("merge(i)")))), "merge(j)");
}

}  // namespace
}  // namespace lathe::test
