// matrix.cpp: linear algebra of small matrices. Interface: matrix.h.
//
// Eigenvalues: Householder reflections make the matrix tridiagonal, implicit QL steps diagonal
// (Golub and Van Loan, "Matrix Computations", 8.3). Least squares: the columns are made orthogonal
// one after the other (Gram and Schmidt, twice), which also gives the leverage of each observation
// and with it the predictions without that one.
#include "base/matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace lathe {
namespace {

void check_finite(const char* what, std::span<const double> numbers) {
  for (double x : numbers) {
    if (!std::isfinite(x)) fail("{}: there is an element {}", what, x);
  }
}

void check_square(const char* what, const Matrix& matrix) {
  if (matrix.rows() != matrix.columns()) {
    fail("{}: a matrix of {} rows and {} columns is not square", what, matrix.rows(),
         matrix.columns());
  }
  check_finite(what, matrix.elements());
}

double largest_of(const Matrix& matrix) {
  double largest = 0;
  for (double x : matrix.elements()) largest = std::max(largest, std::abs(x));
  return largest;
}

/// A symmetric matrix with elements on the diagonal and beside it only; off[i] is beside i and
/// i + 1.
struct Tridiagonal {
  std::vector<double> diagonal, off;
};

/// Reflects the rows and columns after "k" so that column k is zero from k + 2 on.
void reflect(Matrix& a, size_t k, Tridiagonal& result) {
  size_t n = a.rows();
  double norm = 0;
  for (size_t i = k + 1; i < n; ++i) norm = std::hypot(norm, a(i, k));
  if (norm == 0) return;
  double head = a(k + 1, k), alpha = head > 0 ? -norm : norm;
  std::vector<double> v(n), p(n);
  for (size_t i = k + 1; i < n; ++i) v[i] = a(i, k) / norm;
  v[k + 1] -= alpha / norm;
  double square = 0;
  for (size_t i = k + 1; i < n; ++i) square += v[i] * v[i];
  double half = 0;
  for (size_t i = k + 1; i < n; ++i) {
    for (size_t j = k + 1; j < n; ++j) p[i] += a(i, j) * v[j];
    p[i] *= 2 / square;
    half += p[i] * v[i] / square;
  }
  for (size_t i = k + 1; i < n; ++i) p[i] -= half * v[i];
  for (size_t i = k + 1; i < n; ++i) {
    for (size_t j = k + 1; j < n; ++j) a(i, j) -= v[i] * p[j] + p[i] * v[j];
  }
  result.off[k] = alpha;
}

Tridiagonal tridiagonal(Matrix a) {
  size_t n = a.rows();
  Tridiagonal result{std::vector<double>(n), std::vector<double>(n)};
  for (size_t k = 0; k + 2 < n; ++k) reflect(a, k, result);
  if (n >= 2) result.off[n - 2] = a(n - 1, n - 2);
  for (size_t i = 0; i < n; ++i) result.diagonal[i] = a(i, i);
  return result;
}

/// Returns the first place from "start" on where the matrix falls apart.
size_t end_of_block(const Tridiagonal& t, size_t start) {
  size_t end = start;
  for (; end + 1 < t.diagonal.size(); ++end) {
    double around = std::abs(t.diagonal[end]) + std::abs(t.diagonal[end + 1]);
    if (std::abs(t.off[end]) <= std::numeric_limits<double>::epsilon() * around) break;
  }
  return end;
}

/// One implicit QL step on the block from "start" to "end".
void step(Tridiagonal& t, size_t start, size_t end) {
  std::vector<double>&d = t.diagonal, &e = t.off;
  double g = (d[start + 1] - d[start]) / (2 * e[start]);
  double r = std::hypot(g, 1.0);
  g = d[end] - d[start] + e[start] / (g + std::copysign(r, g));
  double sine = 1, cosine = 1, shift = 0;
  for (size_t i = end; i-- > start;) {
    double f = sine * e[i], b = cosine * e[i];
    r = std::hypot(f, g);
    e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= shift;
      e[end] = 0;
      return;
    }
    sine = f / r;
    cosine = g / r;
    g = d[i + 1] - shift;
    r = (d[i] - g) * sine + 2 * cosine * b;
    shift = sine * r;
    d[i + 1] = g + shift;
    g = cosine * r - b;
  }
  d[start] -= shift;
  e[start] = g;
  e[end] = 0;
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Columns that are orthogonal and of length 1, and the triangle that makes the given ones of them.
struct Orthogonal {
  std::vector<std::vector<double>> columns;
  Matrix triangle;
};

Orthogonal orthogonalised(std::vector<std::vector<double>> columns) {
  Orthogonal result{{}, Matrix(columns.size(), columns.size())};
  for (size_t j = 0; j < columns.size(); ++j) {
    std::vector<double>& column = columns[j];
    double before = std::sqrt(dot(column, column));
    // The second time takes away what rounding left of the others.
    for (int time = 0; time < 2; ++time) {
      for (size_t i = 0; i < j; ++i) {
        double along = dot(result.columns[i], column);
        result.triangle(i, j) += along;
        for (size_t k = 0; k < column.size(); ++k) column[k] -= along * result.columns[i][k];
      }
    }
    double length = std::sqrt(dot(column, column));
    constexpr double dependent = 1e-11;
    if (!(length > dependent * before)) {
      fail(
          "least_squares: feature {} is a combination of others, or constant; leave it out, or "
          "give "
          "a ridge",
          j);
    }
    for (double& x : column) x /= length;
    result.triangle(j, j) = length;
    result.columns.push_back(std::move(column));
  }
  return result;
}

/// Returns the columns of ones and of features; below the observations, those that hold the slopes
/// down.
std::vector<std::vector<double>> columns_of(const Matrix& features, size_t count, double ridge) {
  size_t slopes = features.columns();
  std::vector<std::vector<double>> columns(slopes + 1, std::vector<double>(count + slopes));
  for (size_t i = 0; i < count; ++i) {
    columns[0][i] = 1;
    for (size_t j = 0; j < slopes; ++j) columns[j + 1][i] = features(i, j);
  }
  for (size_t j = 0; j < slopes; ++j) columns[j + 1][count + j] = std::sqrt(ridge);
  return columns;
}

}  // namespace

std::vector<double> symmetric_eigenvalues(const Matrix& matrix) {
  check_square("symmetric_eigenvalues", matrix);
  double tolerance = 1e-9 * largest_of(matrix);
  for (size_t i = 0; i < matrix.rows(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (std::abs(matrix(i, j) - matrix(j, i)) > tolerance) {
        fail("symmetric_eigenvalues: the elements ({0}, {1}) and ({1}, {0}) are {2} and {3}", i, j,
             matrix(i, j), matrix(j, i));
      }
    }
  }
  Tridiagonal t = tridiagonal(matrix);
  constexpr int most_steps = 100;
  for (size_t start = 0; start < t.diagonal.size(); ++start) {
    int steps = 0;
    for (size_t end; (end = end_of_block(t, start)) != start;) {
      check(++steps < most_steps, "QL steps converge");
      step(t, start, end);
    }
  }
  std::sort(t.diagonal.begin(), t.diagonal.end());
  return t.diagonal;
}

double log_abs_determinant(const Matrix& matrix) {
  check_square("log_abs_determinant", matrix);
  Matrix a = matrix;
  size_t n = a.rows();
  double sum = 0;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    }
    if (a(pivot, k) == 0) return -std::numeric_limits<double>::infinity();
    for (size_t j = k; pivot != k && j < n; ++j) std::swap(a(pivot, j), a(k, j));
    sum += std::log(std::abs(a(k, k)));
    for (size_t i = k + 1; i < n; ++i) {
      double factor = a(i, k) / a(k, k);
      for (size_t j = k + 1; j < n; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return sum;
}

double LeastSquares::predict(std::span<const double> features) const {
  if (features.size() != slopes.size()) {
    fail("least_squares: {} features where {} were fitted", features.size(), slopes.size());
  }
  return intercept + dot(features, slopes);
}

LeastSquares least_squares(const Matrix& features, std::span<const double> targets, double ridge) {
  size_t count = targets.size(), slopes = features.columns();
  if (slopes > 0 && features.rows() != count) {
    fail("least_squares: {} observations and {} targets", features.rows(), count);
  }
  if (!(ridge >= 0 && std::isfinite(ridge))) fail("least_squares: the ridge {} is negative", ridge);
  check_finite("least_squares", features.elements());
  check_finite("least_squares", targets);
  if (count == 0 || (ridge == 0 && count < slopes + 1)) {
    fail("least_squares: {} observations do not determine {} slopes and the intercept", count,
         slopes);
  }
  Orthogonal q = orthogonalised(columns_of(features, count, ridge));
  std::vector<double> along(slopes + 1);
  for (size_t j = 0; j <= slopes; ++j) {
    along[j] = dot(targets, std::span(q.columns[j]).first(count));
  }
  LeastSquares result;
  std::vector<double> coefficients = along;
  for (size_t j = slopes + 1; j-- > 0;) {
    for (size_t k = j + 1; k <= slopes; ++k) coefficients[j] -= q.triangle(j, k) * coefficients[k];
    coefficients[j] /= q.triangle(j, j);
  }
  result.intercept = coefficients[0];
  result.slopes.assign(coefficients.begin() + 1, coefficients.end());
  for (size_t i = 0; i < count; ++i) {
    double value = 0, leverage = 0;
    for (size_t j = 0; j <= slopes; ++j) {
      value += along[j] * q.columns[j][i];
      leverage += q.columns[j][i] * q.columns[j][i];
    }
    constexpr double alone = 1 - 1e-11;
    result.fitted.push_back(value);
    result.left_out.push_back(leverage > alone
                                  ? std::numeric_limits<double>::quiet_NaN()
                                  : targets[i] - (targets[i] - value) / (1 - leverage));
  }
  return result;
}

LeastSquares nonnegative_least_squares(const Matrix& features, std::span<const double> targets,
                                       double ridge) {
  size_t count = targets.size(), slopes = features.columns();
  if (count == 0 || features.rows() != count) {
    fail("nonnegative_least_squares: {} observations and {} targets", features.rows(), count);
  }
  if (!(ridge > 0 && std::isfinite(ridge))) {
    fail("nonnegative_least_squares: the ridge {} is not above 0", ridge);
  }
  check_finite("nonnegative_least_squares", features.elements());
  check_finite("nonnegative_least_squares", targets);
  // The products of features with each other, and with the targets.
  std::vector<double> along(slopes);
  Matrix products(slopes, slopes);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < slopes; ++j) {
      along[j] += features(i, j) * targets[i];
      for (size_t k = 0; k < slopes; ++k) products(j, k) += features(i, j) * features(i, k);
    }
  }
  for (size_t j = 0; j < slopes; ++j) products(j, j) += ridge;
  // One slope after the other is made the best, beside the others as they are. The sum that is made
  // least is convex, and the ridge makes it strictly so: that leads to its only minimum.
  LeastSquares result;
  result.slopes.assign(slopes, 0);
  constexpr int most_rounds = 10000;
  constexpr double close = 1e-10;
  for (int round = 0; round < most_rounds; ++round) {
    double moved = 0;
    for (size_t j = 0; j < slopes; ++j) {
      double rest = along[j] - dot(products.row(j), result.slopes);
      double best = std::max(0.0, result.slopes[j] + rest / products(j, j));
      moved = std::max(moved, std::abs(best - result.slopes[j]));
      result.slopes[j] = best;
    }
    if (moved < close) break;
  }
  for (size_t i = 0; i < count; ++i) result.fitted.push_back(result.predict(features.row(i)));
  return result;
}

}  // namespace lathe
