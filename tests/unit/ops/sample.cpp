// Operators that read at computed places, and those that tell elements apart: grid_sample,
// roi_align, max_pool_indices, unique, bit_cast.
#include <limits>

#include "support/run_call.h"

namespace lathe::test {
namespace {

/// The coordinates of the middles of two elements, of one between them, and of one far outside.
lathe::Array places() { return reals({1, 4, 1}, {-0.5, 0.5, 0, 9}); }

TEST(GridSample, ReadsBetweenElements) {
  lathe::Array image = reals({1, 1, 2}, {10, 20});
  auto sampled = [&](const std::string& settings) {
    return CallRun("grid_sample(f64[1x1x2], f64[1x4x1]" + settings + ")", {image, places()})
        .outputs[0]
        .reals();
  };
  EXPECT_EQ(sampled(""), (std::vector<double>{10, 20, 15, 0}));
  EXPECT_EQ(sampled(", border=\"clamp\""), (std::vector<double>{10, 20, 15, 20}));
  EXPECT_EQ(sampled(", mode=\"nearest\", border=\"clamp\""), (std::vector<double>{10, 20, 10, 20}));
  // The corners are the elements themselves: the places are at 1/4, 3/4 and 1/2 of the way.
  EXPECT_EQ(sampled(", corners=1, border=\"reflect\""), (std::vector<double>{12.5, 17.5, 15, 20}));
}

TEST(GridSample, CoordinatesThatAreNone) {
  double nan = std::numeric_limits<double>::quiet_NaN(), inf = 1 / 0.0;
  lathe::Array image = reals({1, 1, 2}, {10, 20}), grid = reals({1, 3, 1}, {nan, inf, -inf});
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    CallRun run(fmt::format("grid_sample(f64[1x1x2], f64[1x3x1], mode=\"{}\")", mode),
                {image, grid});
    expect_elements(run.outputs[0], {0, 0, 0});
  }
  for (const char* border : {"clamp", "reflect"}) {
    CallRun run(fmt::format("grid_sample(f64[1x1x2], f64[1x3x1], border=\"{}\")", border),
                {image, grid});
    EXPECT_EQ(run.outputs[0].shape(), (Shape{1, 1, 3}));
  }
}

TEST(GridSample, RefusesWhatMakesNoSense) {
  expect_call_error("grid_sample(f32[1x1x2], f32[1x4x2])", "do not go together");
  expect_call_error("grid_sample(f32[1x1x2], f32[1x4x1], mode=\"best\")", "none of nearest");
  expect_call_error("grid_sample(f32[1x1x0], f32[1x4x1])", "the image has no elements");
}

TEST(RoiAlign, MeansOfRegions) {
  lathe::Array image = reals({1, 1, 2, 4}, {1, 2, 3, 4, 1, 2, 3, 4});
  lathe::Array regions = reals({2, 4}, {0, 0, 2, 2, 2, 0, 4, 2});
  CallRun run("roi_align(f64[1x1x2x4], f64[2x4], i64[2])", {image, regions, integers({2}, {0, 0})});
  expect_elements(run.outputs[0], {1.5, 3.5});
}

TEST(RoiAlign, RefusesWhatMakesNoSense) {
  lathe::Array image = reals({1, 1, 1, 1}, {1}), far = reals({1, 4}, {0, 0, 1e9, 1e9});
  expect_call_error("roi_align(f64[1x1x1x1], f64[1x4], i64[1])", "index 1 is outside of 1 elements",
                    {image, far, integers({1}, {1})});
  expect_call_error("roi_align(f64[1x1x1x1], f64[1x4], i64[1])", "a region needs",
                    {image, far, integers({1}, {0})});
  expect_call_error("roi_align(f32[1x1x1x1], f32[1x4], i64[2])", "do not go together");
  expect_call_error("roi_align(f32[1x1x1x1], f32[1x4], i64[1], mode=\"min\")", "neither mean nor");
}

TEST(MaxPoolIndices, CountsRowsOrColumnsFirst) {
  lathe::Array image = reals({1, 2, 2, 3}, {1, 5, 2, 0, 3, 9, 7, 7, 7, 7, 7, 7});
  for (long columns : {0, 1}) {
    CallRun run(fmt::format("max_pool_indices(f64[1x2x2x3], kernel=[2, 2], columns={})", columns),
                {image});
    // The first of equal values is taken.
    std::vector<double> wanted =
        columns == 1 ? std::vector<double>{2, 5, 6, 8} : std::vector<double>{1, 5, 6, 7};
    expect_elements(run.outputs[0], wanted);
  }
}

TEST(Unique, ElementsAndSlices) {
  CallRun run("unique(i64[5])", {integers({5}, {7, 2, 7, 7, 2})});
  expect_elements(run.outputs[0], {2, 7});
  expect_elements(run.outputs[1], {1, 0});
  expect_elements(run.outputs[2], {1, 0, 1, 1, 0});
  expect_elements(run.outputs[3], {2, 3});
  CallRun found("unique(i64[5], sorted=0)", {integers({5}, {7, 2, 7, 7, 2})});
  expect_elements(found.outputs[0], {7, 2});
  CallRun slices("unique(i64[2x3], axis=1, flat=0)", {integers({2, 3}, {4, 1, 4, 5, 6, 5})});
  EXPECT_EQ(slices.outputs[0].shape(), (Shape{2, 2}));
  expect_elements(slices.outputs[0], {1, 4, 6, 5});
}

TEST(Unique, WhatIsNoNumberComesLast) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  CallRun run("unique(f64[4])", {reals({4}, {nan, 1, nan, 0})});
  expect_elements(run.outputs[1], {3, 1, 0});
  expect_elements(run.outputs[3], {1, 1, 2});
  EXPECT_EQ(CallRun("unique(f32[0])").outputs[0].shape(), (Shape{0}));
}

TEST(BitCast, ReadsTheSameBits) {
  CallRun run("bit_cast(i8[2], to=\"u8\")", {integers({2}, {-1, 5}, Element::i8)});
  expect_elements(run.outputs[0], {255, 5});
  expect_call_error("bit_cast(f32[2], to=\"i64\")", "f32 and i64 differ in size");
}

}  // namespace
}  // namespace lathe::test
