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

/// Roundings of factors are relative to these: where a sum has few products, a large one shows. So
/// many times as far off as usual is a product of two normal numbers, and one of two transformed
/// ones, as few planes have most of an output's error.
constexpr double single_product = 3, single_plane = 6;

double outliers(double of_one, long products) {
  return std::max(1.0, of_one / std::sqrt(static_cast<double>(products)));
}

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

/// The mean squares of a value and of its error, for data of mean square 1.
struct Moments {
  double value, error;
};

/// Is a product with this factor as exact as the other one is?
bool is_power_of_two(double factor) {
  int exponent = 0;
  return std::abs(std::frexp(factor, &exponent)) == 0.5;
}

/// Does a number need no more digits than any element type has?
bool has_few_digits(double x) { return x * 1024 == std::round(x * 1024); }

/// Sums up multiples of independent values, one after the other: each partial sum is rounded.
class Sum {
 public:
  explicit Sum(double unit) : square_(unit * unit) {}

  void add(double factor, const Moments& term) {
    if (factor == 0) return;
    bool exact = result_.value == 0 && is_power_of_two(factor);
    result_.value += factor * factor * term.value;
    result_.error += factor * factor * term.error;
    if (!exact) result_.error += result_.value * square_;
  }
  const Moments& result() const { return result_; }

 private:
  double square_;
  Moments result_{0, 0};
};

/// Returns the moments of a transformed input: a sum down the columns, then one along the rows.
Moments transformed_input(const ToomMatrix& rows, long r, const ToomMatrix& columns, long c,
                          double unit) {
  Sum down(unit), along(unit);
  for (long i = 0; i < rows.columns; ++i) down.add(rows.at(r, i), {1, 0});
  for (long i = 0; i < columns.columns; ++i) along.add(columns.at(c, i), down.result());
  return along.result();
}

/// Returns the moments of a transformed weight: one sum over the window, whose factors are products
/// of two numbers, both rounded unless they have few digits.
Moments transformed_weight(const ToomMatrix& rows, long r, const ToomMatrix& columns, long c,
                           double unit) {
  Sum sum(unit);
  for (long i = 0; i < rows.columns; ++i) {
    for (long k = 0; k < columns.columns; ++k) {
      double a = rows.at(r, i), b = columns.at(c, k);
      double roundings = (has_few_digits(a) ? 0 : 1) + (has_few_digits(b) ? 0 : 1) +
                         (has_few_digits(a * b) ? 0 : 1);
      sum.add(a * b, {1, roundings * unit * unit});
    }
  }
  return sum.result();
}

/// Returns the moments of a sum of products over the channels, "most" of them at a time.
Moments summed(const Moments& u, const Moments& v, double channels, double most, double unit) {
  double value = u.value * v.value * channels;
  double inherited = (u.error * v.value + u.value * v.error) * channels;
  // Partial sums grow evenly; each of them is rounded.
  double own = u.value * v.value * channels * (std::min(channels, most) + 1) / 2 * unit * unit;
  return {value, inherited + own};
}

/// Returns the moments of a value that is rounded once more.
Moments rounded(Moments m, double unit) {
  m.error += m.value * unit * unit;
  return m;
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

double unit_of(Element element) {
  switch (element) {
    case Element::f64:
      return 0x1p-53;
    case Element::f32:
      return 0x1p-24;
    case Element::f16:
    case Element::tf32:
      return 0x1p-11;
    case Element::bf16:
      return 0x1p-8;
    default:
      return 0;
  }
}

double expected_error(const Toom& rows, const Toom& columns, long channels, double unit,
                      const NarrowFactors& narrow) {
  // A rounding is off by half a unit at most, and evenly distributed.
  bool is_narrow = narrow.unit > unit;
  double u = unit / std::sqrt(3.0), factor = is_narrow ? narrow.unit / std::sqrt(3.0) : 0;
  double inputs = is_narrow ? narrow.inputs / std::sqrt(3.0) : u;
  auto count = static_cast<double>(channels);
  double in_sum = is_narrow ? static_cast<double>(narrow.most_in_sum) : count;
  auto product = [&](long a, long b) {
    return summed(rounded(transformed_weight(rows.G, a, columns.G, b, u), factor),
                  rounded(transformed_input(rows.B, a, columns.B, b, inputs), factor), count,
                  in_sum, is_narrow ? factor : u);
  };
  std::vector<std::vector<Moments>> products(static_cast<size_t>(rows.products()));
  for (long a = 0; a < rows.products(); ++a) {
    for (long b = 0; b < columns.products(); ++b) {
      products[static_cast<size_t>(a)].push_back(product(a, b));
    }
  }
  double most = 0;
  for (long x = 0; x < rows.outputs; ++x) {
    for (long y = 0; y < columns.outputs; ++y) {
      Sum along(u);
      for (long b = 0; b < columns.products(); ++b) {
        Sum down(u);
        for (long a = 0; a < rows.products(); ++a) {
          down.add(rows.A.at(x, a), products[static_cast<size_t>(a)][static_cast<size_t>(b)]);
        }
        along.add(columns.A.at(y, b), down.result());
      }
      most = std::max(most, along.result().error);
    }
  }
  double output = count * static_cast<double>(rows.window * columns.window);
  double far_off = is_narrow ? outliers(single_plane, channels) : 1;
  return deviations * far_off * std::sqrt(most / output);
}

double expected_error_of_roundings(long roundings, long products, double unit) {
  return deviations * outliers(single_product, products) * unit / std::sqrt(3.0) *
         std::sqrt(static_cast<double>(roundings));
}

double expected_error_of_sum(long products, double unit) {
  auto n = static_cast<double>(products);
  return deviations * unit / std::sqrt(3.0) * std::sqrt((n + 1) / 2);
}

double expected_error_of_integers(long largest, long products, long first, long second) {
  // Of n normal numbers, the greatest is about so many deviations from 0. A rounding is off by half
  // a step at most, and evenly distributed.
  auto variance = [&](long n) {
    double greatest = std::sqrt(2 * std::log(2 * static_cast<double>(n)));
    return std::pow(greatest / static_cast<double>(largest), 2) / 12;
  };
  return deviations * outliers(single_product, products) *
         std::sqrt(variance(first) + variance(second));
}

}  // namespace lathe
