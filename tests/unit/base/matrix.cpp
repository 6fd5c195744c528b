// Linear algebra, against values of NumPy and against what must hold.
#include "base/matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

using List = std::vector<double>;

Matrix matrix(size_t columns, const List& elements) {
  Matrix result(elements.size() / columns, columns);
  for (size_t i = 0; i < elements.size(); ++i) result(i / columns, i % columns) = elements[i];
  return result;
}

void expect_near(const List& got, const List& wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], tolerance) << i;
}

Matrix random_symmetric(size_t size, uint64_t seed) {
  Random random(seed);
  Matrix result(size, size);
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j <= i; ++j) result(i, j) = result(j, i) = random.normal();
  }
  return result;
}

const Matrix small = matrix(4, {4, 1, -2, 2, 1, 2, 0, 1, -2, 0, 3, -2, 2, 1, -2, -1});

TEST(SmallMatrix, EigenvaluesOfSmallMatrices) {
  expect_near(symmetric_eigenvalues(small),
              {-2.197516977439426, 1.0843644637732173, 2.2685314064312423, 6.844621107234965},
              1e-13);
  expect_near(symmetric_eigenvalues(matrix(2, {0, 1, 1, 0})), {-1, 1}, 1e-15);
  expect_near(symmetric_eigenvalues(matrix(1, {-3})), {-3}, 0);
  expect_near(symmetric_eigenvalues(matrix(3, {3, 0, 0, 0, 1, 0, 0, 0, 2})), {1, 2, 3}, 0);
  expect_near(symmetric_eigenvalues(Matrix(3, 3)), {0, 0, 0}, 0);
  EXPECT_TRUE(symmetric_eigenvalues(Matrix(0, 0)).empty());
  // All ones: one eigenvalue is the size, all others are 0.
  expect_near(symmetric_eigenvalues(matrix(3, List(9, 1))), {0, 0, 3}, 1e-14);
}

TEST(SmallMatrix, EigenvaluesOfLargeMatrices) {
  for (size_t size : {5, 64, 256}) {
    Matrix a = random_symmetric(size, size);
    List values = symmetric_eigenvalues(a);
    ASSERT_EQ(values.size(), size);
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    double trace = 0, squares = 0, sum = 0, sum_of_squares = 0, logarithms = 0;
    for (size_t i = 0; i < size; ++i) trace += a(i, i);
    for (double e : a.elements()) squares += e * e;
    for (double v : values) {
      sum += v;
      sum_of_squares += v * v;
      logarithms += std::log(std::abs(v));
    }
    EXPECT_NEAR(sum, trace, 1e-10);
    EXPECT_NEAR(sum_of_squares, squares, 1e-9 * squares);
    EXPECT_NEAR(log_abs_determinant(a), logarithms, 1e-8);
  }
}

/// The second difference: its eigenvalues are known.
TEST(SmallMatrix, EigenvaluesOfAChain) {
  constexpr size_t size = 50;
  Matrix chain(size, size);
  List wanted;
  for (size_t i = 0; i < size; ++i) {
    chain(i, i) = 2;
    if (i > 0) chain(i, i - 1) = chain(i - 1, i) = -1;
    wanted.push_back(2 - 2 * std::cos(static_cast<double>(i + 1) * M_PI / (size + 1)));
  }
  expect_near(symmetric_eigenvalues(chain), wanted, 1e-13);
  EXPECT_NEAR(log_abs_determinant(chain), std::log(size + 1), 1e-12);
}

TEST(SmallMatrix, Determinants) {
  EXPECT_NEAR(log_abs_determinant(small), 3.6109179126442243, 1e-14);
  EXPECT_NEAR(log_abs_determinant(matrix(2, {0, 2, 3, 0})), std::log(6), 1e-15);
  EXPECT_EQ(log_abs_determinant(matrix(2, {1, 2, 2, 4})), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(log_abs_determinant(Matrix(0, 0)), 0);
}

TEST(SmallMatrix, WhatIsNoSuchMatrix) {
  expect_failure(
      [] {
        symmetric_eigenvalues(matrix(2, {1, 2, 3, 4}));
      },
      {"the elements (1, 0) and (0, 1) are 3 and 2"});
  expect_failure([] { symmetric_eigenvalues(matrix(3, {1, 2, 3})); }, {"is not square"});
  expect_failure([] { log_abs_determinant(matrix(1, {std::nan("")})); }, {"an element nan"});
}

const Matrix features = matrix(2, {1, 2, 2, 1, 3, 5, 4, 3, 5, 8, 6, 1});
const List targets = {3, 2, 6, 5, 9, 4};

TEST(LeastSquares, Plain) {
  LeastSquares fit = least_squares(features, targets);
  EXPECT_NEAR(fit.intercept, 0.8030888030888017, 1e-13);
  expect_near(fit.slopes, {0.39768339768339794, 0.7915057915057916}, 1e-13);
  expect_near(fit.left_out,
              {2.542857142857144, 2.63125, 5.935483870967742, 4.714285714285714, 9.547008547008547,
               3.874999999999999},
              1e-12);
  for (size_t i = 0; i < targets.size(); ++i) {
    EXPECT_NEAR(fit.fitted[i], fit.predict(features.row(i)), 1e-13);
  }
}

TEST(LeastSquares, Ridge) {
  LeastSquares fit = least_squares(features, targets, 0.5);
  EXPECT_NEAR(fit.intercept, 0.8596387130801679, 1e-13);
  expect_near(fit.slopes, {0.3901635021097048, 0.7824367088607596}, 1e-13);
  expect_near(fit.left_out,
              {2.615826158261582, 2.6800764250079614, 5.919967072166834, 4.713624177431148,
               9.299632872070038, 3.9031285337353916},
              1e-12);
}

TEST(LeastSquares, TheMeanWithoutFeatures) {
  LeastSquares fit = least_squares(Matrix(0, 0), List{1, 2, 6});
  EXPECT_NEAR(fit.intercept, 3, 1e-15);
  expect_near(fit.left_out, {4, 3.5, 1.5}, 1e-14);
}

TEST(LeastSquares, AnObservationThatNoOtherReplaces) {
  // Only the last observation says anything of the second feature.
  LeastSquares fit = least_squares(matrix(2, {1, 0, 2, 0, 4, 0, 3, 1}), List{1, 2, 3, 7});
  EXPECT_TRUE(std::isnan(fit.left_out.back()));
  EXPECT_FALSE(std::isnan(fit.left_out.front()));
}

TEST(LeastSquares, WhatIsNotDetermined) {
  Matrix twice = matrix(2, {1, 2, 2, 4, 3, 6, 4, 8});
  List four = {1, 2, 3, 5};
  expect_failure([&] { least_squares(twice, four); }, {"feature 2 is a combination of others"});
  EXPECT_EQ(least_squares(twice, four, 1e-3).slopes.size(), 2u);
  expect_failure(
      [] {
        least_squares(matrix(2, {1, 2, 2, 1}), List{1, 2});
      },
      {"2 observations do not determine 2 slopes and the intercept"});
  expect_failure(
      [] {
        least_squares(matrix(1, {1, 2}), List{1, 2, 3});
      },
      {"2 observations and 3 targets"});
  expect_failure([] { least_squares(matrix(1, {1, 2}), List{1, std::nan("")}); }, {"element nan"});
  expect_failure([] { least_squares(matrix(1, {1, 2}), List{1, 2}, -1); }, {"the ridge -1"});
}

TEST(NonnegativeLeastSquares, SolvesTheEquationsWhereNoSlopeIsBelowZero) {
  // y = 2 a + 3 b, and a ridge that is next to nothing.
  Matrix two = matrix(2, {1, 0, 0, 1, 1, 1, 2, 1});
  LeastSquares bound = nonnegative_least_squares(two, List{2, 3, 5, 7}, 1e-9);
  EXPECT_NEAR(bound.slopes[0], 2, 1e-7);
  EXPECT_NEAR(bound.slopes[1], 3, 1e-7);
  EXPECT_EQ(bound.intercept, 0);
  EXPECT_EQ(bound.predict(List{0, 0}), 0);
  // One feature: the slope is sum(x y) / (sum(x x) + ridge).
  EXPECT_NEAR(nonnegative_least_squares(matrix(1, {1, 2}), List{3, 3}, 0.5).slopes[0], 9 / 5.5,
              1e-9);
}

TEST(NonnegativeLeastSquares, LeavesOutWhatWouldFall) {
  // The targets rise with the first feature and fall with the second.
  Matrix two = matrix(2, {1, 5, 2, 3, 3, 4, 4, 1});
  List values{0, 1.4, 2.2, 3.8};  // the first less a fifth of the second
  LeastSquares bound = nonnegative_least_squares(two, values, 0.1);
  LeastSquares alone = nonnegative_least_squares(matrix(1, {1, 2, 3, 4}), values, 0.1);
  EXPECT_EQ(bound.slopes[1], 0);
  EXPECT_NEAR(bound.slopes[0], alone.slopes[0], 1e-8);
  EXPECT_NEAR(bound.fitted[3], alone.fitted[3], 1e-8);
  expect_failure(
      [&] {
        nonnegative_least_squares(two, List{1, 2, 3, 4}, 0);
      },
      {"the ridge 0 is not above 0"});
}

}  // namespace
}  // namespace lathe::test
