// Windows that slide: what is found, and why others do not.
#include "nest/slide.h"

#include <gtest/gtest.h>

#include "legality/legality.h"
#include "nest/text.h"
#include "ops/op.h"
#include "support/random_nest.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

/// Finds the slides of the statement that adds products.
Sliding sliding_of(isl::ctx ctx, const std::string& nest, const std::string& recipe = "") {
  Nest result = replay(load(ctx, nest), parse_recipe(recipe));
  for (size_t s = 0; s < result.statements().size(); ++s) {
    if (result.statements()[s].update != Update::add) continue;
    return find_sliding(rebased(result.statements()[s], result.order[s]).first);
  }
  fail("nothing is added");
}

void expect_slide(const Slide& slide, size_t position, size_t window, long positions,
                  long elements) {
  EXPECT_EQ(slide.position, position);
  EXPECT_EQ(slide.window, window);
  EXPECT_EQ(slide.positions, positions);
  EXPECT_EQ(slide.elements, elements);
}

TEST(Slide, Convolution) {
  Context ctx;
  Sliding found = sliding_of(ctx, "conv(co=4, ci=6, oh=5, ow=7, kh=3, kw=2)");
  EXPECT_EQ(found.weight, 0u);
  EXPECT_EQ(found.data, 1u);
  ASSERT_EQ(found.slides.size(), 2u);
  expect_slide(found.slides[0], 2, 4, 5, 3);
  expect_slide(found.slides[1], 3, 5, 7, 2);
  EXPECT_EQ(found.slides[1].in_data, 2u);
  EXPECT_EQ(found.slides[1].in_weight, 3u);
  EXPECT_EQ(found.slides[1].in_result, 2u);
  EXPECT_EQ(found.others, (std::vector<size_t>{0, 1}));
}

TEST(Slide, TheOrderOfFactorsAndLoopsDoesNotMatter) {
  Context ctx;
  std::string text =
      "nest t\ntensor X: input f32[9]\ntensor W: weight f32[3]\ntensor Y: output f32[7]\n"
      "statement S[k < 3, x < 7]:\n  Y[x] += X[x + k] * W[k]\n";
  Sliding found = sliding_of(ctx, text);
  EXPECT_EQ(found.weight, 1u);
  ASSERT_EQ(found.slides.size(), 1u);
  expect_slide(found.slides[0], 1, 0, 7, 3);
}

TEST(Slide, OtherCoordinatesMayMoveTheWindow) {
  Context ctx;
  std::string text =
      "nest t\ntensor X: input f32[19]\ntensor W: weight f32[2, 3]\ntensor Y: output f32[18]\n"
      "statement S[g < 2, x < 5, k < 3]:\n  Y[8*g + x + 3] += W[g, k] * X[9*g + x + k + 2]\n";
  Sliding found = sliding_of(ctx, text);
  ASSERT_EQ(found.slides.size(), 1u);
  expect_slide(found.slides[0], 1, 2, 5, 3);
  EXPECT_EQ(found.others, (std::vector<size_t>{0}));
}

TEST(Slide, GroupsAndSlicesDoNotMatter) {
  Context ctx;
  for (const char* recipe : {"group(2)", "bottleneck(2)", "interchange(co, ci) -> bottleneck(2)",
                             "reorder(kw, ow, co)", "split(co, 2)"}) {
    EXPECT_EQ(sliding_of(ctx, "conv(co=4, ci=4, oh=5, ow=7, k=3)", recipe).slides.size(), 2u)
        << recipe;
  }
}

TEST(Slide, WhatDoesNotSlideByOne) {
  struct {
    const char *nest, *recipe, *reason;
  } table[] = {
      {"conv(co=4, ci=4, oh=5, ow=5, k=3, stride=2)", "", "the window moves by 2 along 'oh'"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3, dilation=2)", "",
       "the elements of the window are 2 apart along 'kh'"},
      {"conv(co=4, ci=4, oh=4, ow=4, k=3)", "split(oh, 2)",
       "'oh.o' and 'oh.i' move the window together; undo the split first"},
      {"conv(co=4, ci=4, oh=4, ow=4, k=3)", "split(kw, 2)",
       "'kw.o' and 'kw.i' move the window together"},
      {"conv(co=4, ci=4, oh=4, ow=4, k=3)", "interchange(co, oh) -> bottleneck(2)",
       "the window moves by 2 along 'oh'"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=1)", "", "no window slides"},
      {"matmul(i=4, j=5, k=6)", "", "no window slides"},
      {"avg_pool(c=4, oh=4, ow=4, k=2)", "", "does not add products of two tensors"},
  };
  for (const auto& [nest, recipe, reason] : table) {
    Context ctx;
    expect_failure([&] { sliding_of(ctx, nest, recipe); }, {reason});
  }
}

TEST(Slide, WindowsThatAreNoBox) {
  Context ctx;
  std::string text =
      "nest t\ntensor X: input f32[9]\ntensor W: weight f32[3]\ntensor Y: output f32[7]\n"
      "statement S[x < 7, k < 3] where {}:\n  Y[x] += W[k] * X[x + k]\n";
  std::string part = text, whole = text;
  part.replace(part.find("{}"), 2, "x + k < 8");
  expect_failure([&] { sliding_of(ctx, part); }, {"the positions and windows of 'S' depend on"});
  whole.replace(whole.find("{}"), 2, "x + k < 9");
  EXPECT_EQ(sliding_of(ctx, whole).slides.size(), 1u);
}

}  // namespace
}  // namespace lathe::test
