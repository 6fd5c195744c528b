// rename and start: names of loops, and statements that set what accumulates.
#include <gtest/gtest.h>

#include "codegen/loops.h"
#include "legality/legality.h"
#include "nest/text.h"
#include "ops/op.h"
#include "support/brute_force.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

TEST(Rename, ALoopInEveryStatement) {
  Context ctx;
  Nest nest = parse_op(ctx, "conv(co=2, ci=3, oh=4, ow=5, k=3, bias=1)");
  Nest renamed = replay(nest, parse_recipe("rename(oh, y)"));
  for (const Order& order : renamed.order) {
    EXPECT_FALSE(find_loop(order, "oh"));
    EXPECT_TRUE(find_loop(order, "y"));
  }
  EXPECT_EQ(outputs(renamed), outputs(nest));
  EXPECT_EQ(print(parse_nest(ctx, print(renamed))), print(renamed));
}

TEST(Rename, OneStatementsLoopAlone) {
  Context ctx;
  Nest nest = parse_op(ctx, "conv(co=2, ci=3, oh=4, ow=5, k=3, bias=1)");
  Nest renamed = replay(nest, parse_recipe("rename(conv:oh, y)"));
  size_t changed = 0;
  for (const Order& order : renamed.order) changed += find_loop(order, "y") ? 1 : 0;
  EXPECT_EQ(changed, 1u);
  EXPECT_EQ(outputs(renamed), outputs(nest));
}

TEST(Rename, KeepsSharedLoopsApart) {
  Context ctx;
  Nest nest = parse_nest(ctx,
                         "nest t\ntensor X: input f32[4]\ntensor Y: output f32[4]\n"
                         "tensor Z: output f32[4]\nstatement S[i < 4]:\n  Y[i] = X[i]\n"
                         "statement R[i < 4]:\n  Z[i] = Y[i]\nschedule:\n  for i:\n    S\n    R\n");
  Nest renamed = replay(nest, parse_recipe("rename(R:i, j)"));
  EXPECT_EQ(shared_loops(renamed.order[0], renamed.order[1]), 0u);
  EXPECT_EQ(outputs(renamed), outputs(nest));
  Nest back = replay(renamed, parse_recipe("rename(j, i) -> merge(i)"));
  EXPECT_EQ(print(back), print(nest));
}

TEST(Rename, TakenNamesAreAnError) {
  Context ctx;
  Nest nest = parse_op(ctx, "matmul(i=4, j=5, k=6)");
  expect_failure([&] { replay(nest, parse_recipe("rename(i, k)")); },
                 {"statement 'matmul' has a loop 'k' already"});
  expect_failure([&] { replay(nest, parse_recipe("rename(x, y)")); }, {"x"});
}

TEST(Start, SetsWhatAccumulates) {
  Context ctx;
  Nest nest = parse_op(ctx, "matmul(i=4, j=5, k=6)");
  Nest started = replay(nest, parse_recipe("start()"));
  ASSERT_EQ(started.statements().size(), 2u);
  EXPECT_EQ(print(scan(started)),
            "for i < 4:\n  for j < 5:\n    O[i, j] = 0\n"
            "for i < 4:\n  for j < 5:\n    for k < 6:\n      O[i, j] += A[i, k] * B[k, j]\n");
  EXPECT_EQ(outputs(started), outputs(nest));
}

TEST(Start, ComesOnce) {
  Context ctx;
  Nest nest = parse_op(ctx, "matmul(i=4, j=5, k=6)");
  expect_failure([&] { replay(nest, parse_recipe("start() -> start()")); },
                 {"everything that accumulates is set already"});
  expect_failure([&] { replay(parse_op(ctx, "relu(c=3)"), parse_recipe("start()")); },
                 {"everything that accumulates is set already"});
}

TEST(Start, OfWhatWinogradAdds) {
  Context ctx;
  Nest nest = replay(parse_op(ctx, "conv(co=2, ci=3, oh=4, ow=4, k=3)"),
                     parse_recipe("start() -> winograd(2) -> start()"));
  // The result has one already; U, T, V, P, Q and Y get one each.
  EXPECT_EQ(nest.statements().size(), 1u + 7u + 6u);
}

}  // namespace
}  // namespace lathe::test
