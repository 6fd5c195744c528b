// Algebraic steps are judged by their error: what a user allows is accepted, more is refused.
#include <gtest/gtest.h>

#include "legality/legality.h"
#include "nest/text.h"
#include "ops/op.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

constexpr const char* layer = "conv(co=4, ci=8, oh=8, ow=8, k=3, pad=1)";

TEST(Rounding, StepsStateTheirError) {
  Context ctx;
  Nest nest = parse_op(ctx, layer);
  double before = 0;
  for (long m : {2L, 4L, 6L}) {
    Applied applied = apply(nest, {"winograd", {m}});
    ASSERT_TRUE(applied.error.has_value());
    EXPECT_GT(*applied.error, before);
    EXPECT_LT(*applied.error, 1e-4);
    before = *applied.error;
  }
  EXPECT_FALSE(apply(nest, {"group", {2L}}).error);
}

TEST(Rounding, AcceptedUpToTheLimit) {
  Context ctx;
  Nest nest = parse_op(ctx, layer);
  Step step{"winograd", {4L}};
  double error = *apply(nest, step).error;
  for (const Limits& limits : {Limits{}, Limits{1e-4}, Limits{error}}) {
    Judged judged = try_step(nest, step, limits);
    EXPECT_EQ(judged.verdict.kind, Verdict::Kind::rounded);
    EXPECT_NE(judged.verdict.reason.find("36 products instead of 144 for 16 outputs"),
              std::string::npos)
        << judged.verdict.reason;
  }
}

TEST(Rounding, RefusedBeyondIt) {
  Context ctx;
  Nest nest = parse_op(ctx, layer);
  Step step{"winograd", {4L}};
  double error = *apply(nest, step).error;
  for (double limit : {0.0, 1e-8, 0.99 * error}) {
    Judged judged = try_step(nest, step, {limit});
    EXPECT_FALSE(judged.verdict.accepted()) << limit;
    EXPECT_NE(judged.verdict.reason.find("its error may reach"), std::string::npos);
    EXPECT_EQ(print(judged.nest), print(nest)) << "the nest stays as it was";
    expect_failure([&] { replay(nest, {step}, {limit}); }, {"winograd(4): refused: its error"});
  }
}

TEST(Rounding, OtherStepsHaveNoLimit) {
  Context ctx;
  Nest nest = parse_op(ctx, layer);
  for (const Judged& judged :
       try_recipe(nest, parse_recipe("group(2) -> split(oh, 4) -> interchange(co, ow)"), {0})) {
    EXPECT_TRUE(judged.verdict.accepted());
    EXPECT_NE(judged.verdict.kind, Verdict::Kind::rounded);
  }
}

TEST(Rounding, DoublesRoundLess) {
  Context ctx;
  Nest narrow = parse_op(ctx, "conv(f32[1x4x8x8], f32[4x4x3x3])"),
       wide = parse_op(ctx, "conv(f64[1x4x8x8], f64[4x4x3x3])");
  Step step{"winograd", {4L}};
  EXPECT_LT(*apply(wide, step).error, 1e-8 * *apply(narrow, step).error);
}

}  // namespace
}  // namespace lathe::test
