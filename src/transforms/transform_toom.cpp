// transform_toom.cpp: the matrices, and how much they round. Interface: transform_toom.h.
#include "transforms/transform_toom.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.h"

namespace lathe {
namespace {

/// The points that are taken first, with the last one at infinity: small ones and their opposites
/// and inverses keep the matrices' entries small.
constexpr double points[] = {0, 1, -1, 2, -2, 0.5, -0.5};
constexpr long most_points = std::size(points) + 1;

/// How many standard deviations an error may be off.
constexpr double deviations = 8;

std::span<const double> finite_points(long products) {
  return {points, static_cast<size_t>(products - 1)};
}

/// Returns the coefficients, lowest first, of the product of (x - p) over all points but one; with
/// "skipped" beyond the last, over all.
std::vector<double> product_of_roots(std::span<const double> all, size_t skipped) {
  std::vector<double> result{1};
  for (size_t k = 0; k < all.size(); ++k) {
    if (k == skipped) continue;
    result.push_back(0);
    for (size_t i = result.size(); i-- > 0;) {
      result[i] = (i > 0 ? result[i - 1] : 0) - all[k] * result[i];
    }
  }
  return result;
}

/// Returns the product of the differences between one point and all others.
double distance_to_others(std::span<const double> all, size_t point) {
  double result = 1;
  for (size_t k = 0; k < all.size(); ++k) {
    if (k != point) result *= all[point] - all[k];
  }
  return result;
}

double sum_of_squares(const Matrix& m, long row) {
  double sum = 0;
  for (long c = 0; c < m.columns; ++c) sum += m.at(row, c) * m.at(row, c);
  return sum;
}

long terms(const Matrix& m, long row) {
  long n = 0;
  for (long c = 0; c < m.columns; ++c) n += m.at(row, c) != 0 ? 1 : 0;
  return n;
}

/// The mean squares of a value and of its error, for data of mean square 1.
struct Moments {
  double value, error;
};

/// Returns the moments of what a transform makes of independent elements: a row of one matrix down
/// the columns, a row of the other along the rows. Each sum of n terms rounds n - 1 times.
Moments transformed(const Matrix& rows, long r, const Matrix& columns, long c, double unit) {
  double first = sum_of_squares(rows, r), both = first * sum_of_squares(columns, c);
  auto roundings = static_cast<double>(terms(rows, r) + terms(columns, c) - 2);
  return {both, roundings * both * unit * unit / 2};
}

/// Returns the moments of a sum of products over the channels.
Moments summed(const Moments& u, const Moments& v, double channels, double unit) {
  double value = u.value * v.value * channels;
  double inherited = (u.error * v.value + u.value * v.error) * channels;
  // Partial sums grow evenly; each of them is rounded.
  double own = u.value * v.value * channels * (channels + 1) / 2 * unit * unit;
  return {value, inherited + own};
}

}  // namespace

bool has_toom(long outputs, long window) {
  return outputs >= 2 && window >= 2 && outputs + window - 1 <= most_points;
}

Toom toom(long outputs, long window) {
  check(has_toom(outputs, window), "there are points for every product");
  long n = outputs + window - 1;
  auto all = finite_points(n);
  Toom t{outputs, window, {outputs, n, {}}, {n, n, {}}, {n, window, {}}, 1};
  for (long i = 0; i < outputs; ++i) {
    for (double p : all) t.A.values.push_back(std::pow(p, static_cast<double>(i)));
    t.A.values.push_back(i + 1 == outputs ? 1 : 0);
  }
  for (size_t j = 0; j <= all.size(); ++j) {
    std::vector<double> row = product_of_roots(all, j);
    row.resize(static_cast<size_t>(n), 0);
    t.B.values.insert(t.B.values.end(), row.begin(), row.end());
  }
  for (size_t j = 0; j < all.size(); ++j) {
    double distance = distance_to_others(all, j);
    for (long k = 0; k < window; ++k) {
      t.G.values.push_back(std::pow(all[j], static_cast<double>(k)) / distance);
    }
  }
  for (long k = 0; k < window; ++k) t.G.values.push_back(k + 1 == window ? 1 : 0);
  auto is_integral = [&](double scale) {
    return std::all_of(t.G.values.begin(), t.G.values.end(), [&](double v) {
      return std::abs(v * scale - std::round(v * scale)) < 1e-9;
    });
  };
  while (!is_integral(t.scale_of_G)) ++t.scale_of_G;
  return t;
}

double expected_error(const Toom& rows, const Toom& columns, long channels, double unit) {
  // A rounding is off by half a unit at most, and evenly distributed.
  double u = unit / std::sqrt(3.0);
  auto count = static_cast<double>(channels);
  double most = 0;
  for (long x = 0; x < rows.outputs; ++x) {
    for (long y = 0; y < columns.outputs; ++y) {
      double error = 0, value = 0;
      for (long a = 0; a < rows.products(); ++a) {
        for (long b = 0; b < columns.products(); ++b) {
          Moments weight = transformed(rows.G, a, columns.G, b, u);
          Moments input = transformed(rows.B, a, columns.B, b, u);
          Moments product = summed(weight, input, count, u);
          double factor = rows.A.at(x, a) * columns.A.at(y, b);
          error += factor * factor * product.error;
          value += factor * factor * product.value;
        }
      }
      auto roundings = static_cast<double>(terms(rows.A, x) + terms(columns.A, y) - 2);
      most = std::max(most, error + roundings * value * u * u / 2);
    }
  }
  double output = count * static_cast<double>(rows.window * columns.window);
  return deviations * std::sqrt(most / output);
}

double expected_error_of_sum(long products, double unit) {
  auto n = static_cast<double>(products);
  return deviations * unit / std::sqrt(3.0) * std::sqrt((n + 1) / 2);
}

}  // namespace lathe
