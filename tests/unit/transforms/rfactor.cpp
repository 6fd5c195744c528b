// rfactor: sums in parts that do not wait for each other.
#include <gtest/gtest.h>

#include "codegen/loops.h"
#include "legality/legality.h"
#include "nest/text.h"
#include "support/brute_force.h"
#include "support/random_nest.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

TEST(Rfactor, PartsAreAddedUpBehindTheLoop) {
  Context ctx;
  Nest nest = load(ctx, "matmul(i=2, j=3, k=8)");
  EXPECT_EQ(print(scan(replay(nest, parse_recipe("split(k, 4) -> reorder(i, k.o, j, k.i) -> "
                                                 "rfactor(k.o)")))),
            "for i < 2:\n"
            "  for k.o < 2:\n"
            "    for j < 3:\n"
            "      O.part[i, k.o, j] = 0\n"
            "    for j < 3:\n"
            "      for k.i < 4:\n"
            "        O.part[i, k.o, j] += A[i, 4*k.o + k.i] * B[4*k.o + k.i, j]\n"
            "    for j < 3:\n"
            "      O.parts[i, k.o, j] = O.part[i, k.o, j]\n"
            "  for k.o < 2:\n"
            "    for j < 3:\n"
            "      O[i, j] += O.parts[i, k.o, j]\n");
}

TEST(Rfactor, ComputesTheSame) {
  Context ctx;
  Nest nest = load(ctx, "conv(co=4, ci=6, oh=5, ow=4, k=3, pad=1, bias=1)");
  for (const char* recipe : {"rfactor(ci)", "split(ci, 4) -> rfactor(ci.o)",
                             "reorder(oh, ow, ci, kh, kw, co) -> rfactor(conv:ci)"}) {
    EXPECT_EQ(outputs(replay(nest, parse_recipe(recipe))), outputs(nest)) << recipe;
  }
}

TEST(Rfactor, ThreadsShareTheParts) {
  Context ctx;
  Nest nest = load(ctx, "matmul(i=2, j=3, k=8)");
  std::string before = "split(k, 4) -> reorder(i, k.o, j, k.i) -> ";
  // Without parts the threads would add to one sum at the same time.
  auto refused = try_recipe(nest, parse_recipe(before + "bind(k.o, thread.x)"));
  EXPECT_FALSE(refused.back().verdict.accepted());
  auto accepted =
      try_recipe(nest, parse_recipe(before + "rfactor(k.o) -> rename(matmul.total:k.o, parts) -> "
                                             "bind(k.o, thread.x)"));
  EXPECT_TRUE(accepted.back().verdict.accepted());
}

TEST(Rfactor, NeedsASumInsideTheLoop) {
  Context ctx;
  Nest nest = load(ctx, "relu(c=4)");
  expect_failure([&] { replay(nest, parse_recipe("rfactor(c)")); }, {"no products are added up"});
}

}  // namespace
}  // namespace lathe::test
