// The matrices of short convolutions: what they compute, the well-known ones, how much they round.
#include "transforms/transform_toom.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_case.h"

namespace lathe::test {
namespace {

struct Size {
  long outputs, window;
};

std::vector<Size> all_sizes() {
  std::vector<Size> sizes;
  for (long m = 1; m < 12; ++m) {
    for (long r = 1; r < 12; ++r) {
      if (has_toom(m, r)) sizes.push_back({m, r});
    }
  }
  return sizes;
}

std::vector<double> times(const ToomMatrix& m, const std::vector<double>& x) {
  std::vector<double> y;
  for (long row = 0; row < m.rows; ++row) {
    double sum = 0;
    for (long c = 0; c < m.columns; ++c) sum += m.at(row, c) * x[static_cast<size_t>(c)];
    y.push_back(sum);
  }
  return y;
}

TEST(Toom, SizesThatExist) {
  for (Size s : {Size{2, 3}, {4, 3}, {6, 3}, {2, 5}, {4, 5}, {2, 2}, {3, 4}, {2, 7}}) {
    EXPECT_TRUE(has_toom(s.outputs, s.window)) << s.outputs << " of " << s.window;
  }
  for (Size s : {Size{6, 5}, {6, 4}, {1, 3}, {2, 1}, {8, 3}, {2, 8}}) {
    EXPECT_FALSE(has_toom(s.outputs, s.window)) << s.outputs << " of " << s.window;
  }
}

TEST(Toom, EverySizeIsTheConvolution) {
  Random random(1, 1);
  for (Size s : all_sizes()) {
    Toom t = toom(s.outputs, s.window);
    ASSERT_EQ(t.products(), s.outputs + s.window - 1);
    std::vector<double> inputs, window;
    for (long i = 0; i < t.products(); ++i)
      inputs.push_back(static_cast<double>(random.between(-9, 9)));
    for (long i = 0; i < s.window; ++i)
      window.push_back(static_cast<double>(random.between(-9, 9)));
    std::vector<double> products = times(t.G, window), data = times(t.B, inputs);
    for (size_t i = 0; i < products.size(); ++i) products[i] *= data[i];
    std::vector<double> outputs = times(t.A, products);
    for (size_t i = 0; i < outputs.size(); ++i) {
      double wanted = 0;
      for (size_t k = 0; k < window.size(); ++k) wanted += window[k] * inputs[i + k];
      EXPECT_NEAR(outputs[i], wanted, 1e-9) << s.outputs << " of " << s.window;
    }
  }
}

/// Expects the matrices of a paper. What one product is scaled by can stand in any of the three
/// matrices: only all three together tell.
void expect_same_products(const Toom& t, const std::vector<double>& A, const std::vector<double>& B,
                          const std::vector<double>& G) {
  ToomMatrix a{t.A.rows, t.A.columns, A}, b{t.B.rows, t.B.columns, B}, g{t.G.rows, t.G.columns, G};
  for (long j = 0; j < t.products(); ++j) {
    for (long i = 0; i < t.outputs; ++i) {
      for (long k = 0; k < t.window; ++k) {
        for (long l = 0; l < t.products(); ++l) {
          EXPECT_NEAR(t.A.at(i, j) * t.G.at(j, k) * t.B.at(j, l),
                      a.at(i, j) * g.at(j, k) * b.at(j, l), 1e-12)
              << "product " << j;
        }
      }
    }
  }
}

TEST(Toom, TwoOutputsOfThree) {
  expect_same_products(toom(2, 3), {1, 1, 1, 0, 0, 1, -1, -1},
                       {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1},
                       {1, 0, 0, .5, .5, .5, .5, -.5, .5, 0, 0, 1});
}

TEST(Toom, FourOutputsOfThree) {
  expect_same_products(toom(4, 3),
                       {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0, 0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1},
                       {4, 0,  -5, 0, 1, 0, 0, -4, -4, 1,  1, 0, 0, 4, -4, -1, 1, 0,
                        0, -2, -1, 2, 1, 0, 0, 2,  -1, -2, 1, 0, 0, 4, 0,  -5, 0, 1},
                       {1. / 4, 0, 0, -1. / 6, -1. / 6, -1. / 6, -1. / 6, 1. / 6, -1. / 6, 1. / 24,
                        1. / 12, 1. / 6, 1. / 24, -1. / 12, 1. / 6, 0, 0, 1});
}

TEST(Toom, WhatMakesWeightsIntegers) {
  for (Size s : all_sizes()) {
    Toom t = toom(s.outputs, s.window);
    for (double x : t.G.values) {
      double scaled = x * t.scale_of_G;
      EXPECT_NEAR(scaled, std::round(scaled), 1e-9);
    }
    for (double x : t.B.values) EXPECT_EQ(4 * x, std::round(4 * x)) << "a quarter at least";
  }
  EXPECT_EQ(toom(2, 3).scale_of_G, 2);
  EXPECT_EQ(toom(4, 3).scale_of_G, 24);
}

TEST(Toom, MoreOutputsAndMoreChannelsRoundMore) {
  auto error = [](long m, long r, long channels, double unit) {
    return expected_error(toom(m, r), toom(m, r), channels, unit);
  };
  constexpr double f32 = 0x1p-24, f64 = 0x1p-53;
  EXPECT_LT(error(2, 3, 64, f32), error(4, 3, 64, f32));
  EXPECT_LT(error(4, 3, 64, f32), error(6, 3, 64, f32));
  EXPECT_LT(error(2, 5, 64, f32), error(4, 5, 64, f32));
  EXPECT_LT(error(4, 3, 16, f32), error(4, 3, 256, f32));
  EXPECT_LT(expected_error_of_sum(9 * 64, f32), error(4, 3, 64, f32));
  EXPECT_NEAR(error(4, 3, 64, f64) / error(4, 3, 64, f32), 0x1p-29, 1e-15);
}

TEST(Toom, InputsTransformedInNarrowNumbersRoundLittleMore) {
  constexpr double f32 = 0x1p-24, f16 = 0x1p-11;
  for (long m : {2L, 4L}) {
    auto error = [&](double inputs) {
      return expected_error(toom(m, 3), toom(m, 3), 256, f32, {f16, 128, inputs});
    };
    EXPECT_GT(error(f16), error(f32));
    EXPECT_LT(error(f16), 1.1 * error(f32)) << "sums of products round more";
  }
}

}  // namespace
}  // namespace lathe::test
