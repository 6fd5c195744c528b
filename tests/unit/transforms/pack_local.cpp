// pack of local tensors: what is complete beforehand can be copied, what is still written cannot.
#include <gtest/gtest.h>

#include "legality/legality.h"
#include "nest/text.h"
#include "support/brute_force.h"
#include "support/random_nest.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

constexpr const char* two = R"(nest t
tensor X: input f32[6, 8]
tensor T: local f32[6, 8]
tensor Y: output f32[8, 6]
statement S[i < 6, j < 8]:
  T[i, j] = 2 * X[i, j]
statement R[j < 8, i < 6]:
  Y[j, i] += T[i, j] + 1
)";

TEST(PackLocal, WhatIsWrittenBefore) {
  Context ctx;
  Nest nest = parse_nest(ctx, two);
  for (const char* recipe : {"pack(T)", "pack(T, R:j)", "split(R:j, 4) -> pack(T, j.o)"}) {
    Nest packed = replay(nest, parse_recipe(recipe));
    EXPECT_EQ(packed.statements().size(), 3u) << recipe;
    EXPECT_EQ(outputs(packed), outputs(nest)) << recipe;
  }
}

TEST(PackLocal, WhatIsWrittenInTheSameLoops) {
  Context ctx;
  std::string text =
      fmt::format("{}schedule:\n  for x = i | i:\n    for j: S\n    for j: R\n", two);
  expect_failure(
      [&] {
        apply(parse_nest(ctx, text), {"pack", {std::string("T")}});
      },
      {"'S' writes T while it is read; only what is there beforehand can be packed"});
}

TEST(PackLocal, WhatIsWrittenLater) {
  Context ctx;
  std::string text = fmt::format("{}schedule:\n  for j, i: R\n  for i, j: S\n", two);
  expect_failure(
      [&] {
        apply(parse_nest(ctx, text), {"pack", {std::string("T")}});
      },
      {"'S' writes T while it is read"});
}

TEST(PackLocal, TransformedWeights) {
  Context ctx;
  Nest nest = replay(load(ctx, "conv(co=4, ci=3, oh=4, ow=4, k=3)"), parse_recipe("winograd(2)"));
  Nest packed = replay(nest, parse_recipe("pack(U)"));
  EXPECT_TRUE(find_tensor(packed, "U.packed"));
  EXPECT_EQ(outputs(packed), outputs(nest));
}

}  // namespace
}  // namespace lathe::test
