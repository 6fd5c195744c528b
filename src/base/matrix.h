// Linear algebra of small matrices, in double precision: eigenvalues, determinants, least squares.
//
//   Matrix kernel(64, 64);                       zeros
//   kernel(i, j) = ...;
//   log_abs_determinant(kernel);                 the score of a network, say
//
//   LeastSquares line = least_squares(features, accuracies, 0.1);
//   line.predict(features_of_another)
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lathe {

/// A matrix, row by row.
class Matrix {
 public:
  Matrix(size_t rows, size_t columns) : columns_(columns), elements_(rows * columns) {}

  size_t rows() const { return columns_ == 0 ? 0 : elements_.size() / columns_; }
  size_t columns() const { return columns_; }
  double& operator()(size_t row, size_t column) { return elements_[row * columns_ + column]; }
  double operator()(size_t row, size_t column) const { return elements_[row * columns_ + column]; }
  std::span<const double> row(size_t i) const {
    return std::span(elements_).subspan(i * columns_, columns_);
  }
  std::span<const double> elements() const { return elements_; }

 private:
  size_t columns_;
  std::vector<double> elements_;
};

/// Returns the eigenvalues of a symmetric matrix, the least first. Fails where it is not symmetric,
/// or an element is not finite.
std::vector<double> symmetric_eigenvalues(const Matrix& matrix);

/// Returns the logarithm of the determinant's absolute value; minus infinity where it is 0. Fails
/// where the matrix is not square, or an element is not finite.
double log_abs_determinant(const Matrix& matrix);

/// A linear function that was fitted to observations:  y = intercept + slopes * x.
struct LeastSquares {
  double intercept = 0;
  std::vector<double> slopes;
  std::vector<double> fitted;  ///< its prediction for each observation
  /// For each observation, the prediction of the function that is fitted to all others; NaN where
  /// they do not determine one.
  std::vector<double> left_out;

  double predict(std::span<const double> features) const;
};

/// Fits a linear function to observations, one in each row: it makes the sum of squared errors, and
/// "ridge" times the sum of squared slopes, least. Fails where they do not determine it: too few
/// observations, or features of which one is a combination of others. A ridge above 0 helps; it
/// counts in the features' units, so bring them to a like scale before.
LeastSquares least_squares(const Matrix& features, std::span<const double> targets,
                           double ridge = 0);

/// Fits a linear function that is 0 where all features are 0: it has no intercept. No slope is
/// below 0; a feature that would want such a slope gets 0. The ridge must be above 0. Nothing is
/// said of observations left out.
LeastSquares nonnegative_least_squares(const Matrix& features, std::span<const double> targets,
                                       double ridge);

}  // namespace lathe
