// Least squares from sums of products: base/normal_equations.h.
#include "base/normal_equations.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace lathe {
namespace {

constexpr size_t rows = 60, regressors = 6, targets = 3;

Matrix drawn(size_t height, size_t width, const char* name) {
  Random random(20261117, name);
  Matrix result(height, width);
  for (size_t i = 0; i < height; ++i) {
    for (size_t j = 0; j < width; ++j) result(i, j) = random.normal();
  }
  return result;
}

/// Returns the columns of a matrix up to one.
Matrix first_columns(const Matrix& matrix, size_t count) {
  Matrix result(matrix.rows(), count);
  for (size_t i = 0; i < matrix.rows(); ++i) {
    for (size_t j = 0; j < count; ++j) result(i, j) = matrix(i, j);
  }
  return result;
}

std::vector<double> column(const Matrix& matrix, size_t j) {
  std::vector<double> result;
  for (size_t i = 0; i < matrix.rows(); ++i) result.push_back(matrix(i, j));
  return result;
}

/// Returns the share of a target's variance that a function of the first regressors, and a
/// constant, explains.
double explained(const Matrix& x, const Matrix& y, size_t target, size_t count) {
  std::vector<double> wanted = column(y, target);
  LeastSquares line = least_squares(first_columns(x, count), wanted);
  double mean = 0, error = 0, variance = 0;
  for (double each : wanted) mean += each / static_cast<double>(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    error += (wanted[i] - line.fitted[i]) * (wanted[i] - line.fitted[i]);
    variance += (wanted[i] - mean) * (wanted[i] - mean);
  }
  return 1 - error / variance;
}

TEST(NormalEquations, FindWhatObservationsWereMadeOf) {
  Matrix x = drawn(rows, regressors, "x"), w = drawn(targets, regressors, "w"), y(rows, targets);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t t = 0; t < targets; ++t) {
      for (size_t k = 0; k < regressors; ++k) y(i, t) += w(t, k) * x(i, k);
    }
  }
  for (int threads : {1, 3}) {
    NormalEquations equations(regressors, targets, threads);
    equations.add(first_columns(x, regressors), y);
    Matrix found = equations.solved(Matrix(targets, regressors), 0);
    for (size_t t = 0; t < targets; ++t) {
      for (size_t k = 0; k < regressors; ++k) EXPECT_NEAR(found(t, k), w(t, k), 1e-10);
      EXPECT_NEAR(equations.unexplained(found)[t], 0, 1e-10);
    }
  }
}

TEST(NormalEquations, ALargeRidgeLeavesTheStart) {
  Matrix start = drawn(targets, regressors, "start");
  NormalEquations equations(regressors, targets);
  equations.add(drawn(rows, regressors, "x"), drawn(rows, targets, "y"));
  Matrix found = equations.solved(start, 1e9);
  for (size_t k = 0; k < regressors; ++k) EXPECT_NEAR(found(0, k), start(0, k), 1e-6);
}

TEST(NormalEquations, SayWhatTheFirstRegressorsExplain) {
  Matrix x = drawn(rows, regressors, "x"), y = drawn(rows, targets, "y");
  NormalEquations equations(regressors, targets);
  equations.add(x, y);
  Matrix shares = equations.explained_by_first(2, 0);
  ASSERT_EQ(shares.columns(), regressors / 2 + 1);
  for (size_t t = 0; t < targets; ++t) {
    EXPECT_EQ(shares(t, 0), 0);
    for (size_t n = 1; n <= regressors / 2; ++n) {
      EXPECT_NEAR(shares(t, n), explained(x, y, t, 2 * n), 1e-10);
    }
  }
  EXPECT_NEAR(equations.explained_by({0, 1, 2, 3}, {2}, 0)[0], shares(2, 2), 1e-12);
  EXPECT_NEAR(equations.explained_by({3, 1, 0, 2}, {2}, 0)[0], shares(2, 2), 1e-12);
}

TEST(NormalEquations, RefuseObservationsThatDetermineNothing) {
  NormalEquations equations(regressors, targets);
  equations.add(Matrix(2, regressors), Matrix(2, targets));
  EXPECT_THROW(equations.solved(Matrix(targets, regressors), 0), UserError);
}

}  // namespace
}  // namespace lathe
