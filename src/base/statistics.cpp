// statistics.cpp: statistics of small samples. Interface: statistics.h.
//
// Kendall's tau: Knight, "A Computer Method for Calculating Kendall's Tau with Ungrouped Data",
// 1966. The incomplete beta function is evaluated as a continued fraction (Abramowitz and Stegun,
// 26.5.8) by Lentz's method.
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace lathe {
namespace {

void check_numbers(const char* what, Numbers numbers, size_t least) {
  if (numbers.size() < least) {
    fail("{}: {} number{} where at least {} {} needed", what, numbers.size(),
         numbers.size() == 1 ? "" : "s", least, least == 1 ? "is" : "are");
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (std::isnan(numbers[i])) fail("{}: number {} of {} is NaN", what, i + 1, numbers.size());
  }
}

void check_finite(const char* what, Numbers numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (std::isinf(numbers[i])) {
      fail("{}: number {} of {} is infinite", what, i + 1, numbers.size());
    }
  }
}

void check_pairs(const char* what, Numbers x, Numbers y) {
  if (x.size() != y.size()) fail("{}: {} numbers and {} make no pairs", what, x.size(), y.size());
  check_numbers(what, x, 2);
  check_numbers(what, y, 2);
  for (Numbers side : {x, y}) {
    bool same = std::all_of(side.begin(), side.end(), [&](double v) { return v == side[0]; });
    if (same) fail("{}: all {} numbers are equal to {}", what, side.size(), side[0]);
  }
}

void check_level(const char* what, double level) {
  if (!(level > 0 && level < 1)) fail("{}: the level {} is not between 0 and 1", what, level);
}

std::vector<size_t> counted(size_t count) {
  std::vector<size_t> places(count);
  std::iota(places.begin(), places.end(), size_t{0});
  return places;
}

double pairs_of(double count) { return count * (count - 1) / 2; }

/// Sorts the numbers, and counts the pairs that stood in the wrong order.
double sort_and_count(std::vector<double>& numbers) {
  std::vector<double> merged(numbers.size());
  double swaps = 0;
  for (size_t width = 1; width < numbers.size(); width *= 2) {
    for (size_t start = 0; start < numbers.size(); start += 2 * width) {
      size_t middle = std::min(start + width, numbers.size());
      size_t end = std::min(start + 2 * width, numbers.size()), left = start, right = middle;
      for (size_t to = start; to < end; ++to) {
        bool from_right = left == middle || (right < end && numbers[right] < numbers[left]);
        if (from_right) swaps += static_cast<double>(middle - left);
        merged[to] = from_right ? numbers[right++] : numbers[left++];
      }
    }
    numbers.swap(merged);
  }
  return swaps;
}

/// Counts the pairs of equal neighbours' runs: "same(i)" says whether i is equal to i - 1.
template <class Same>
double tied_pairs(size_t count, Same same) {
  double pairs = 0, run = 1;
  for (size_t i = 1; i < count; ++i) {
    run = same(i) ? run + 1 : 1;
    pairs += run - 1;
  }
  return pairs;
}

/// std::lgamma() also writes to a variable that threads share.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// The continued fraction of the incomplete beta function, which converges fast for
/// x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double least = 1e-300, enough = 1e-16;
  constexpr int most_terms = 10000;
  auto away_from_zero = [](double v) { return std::abs(v) < least ? least : v; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m < most_terms; ++m) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      step = c * d;
      value *= step;
    }
    if (std::abs(step - 1) < enough) break;
  }
  return value;
}

/// The probability that a variable of Student's distribution is larger than t, which is not
/// negative.
double student_tail(double t, double freedom) {
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
}

}  // namespace

double mean(Numbers numbers) {
  check_numbers("mean", numbers, 1);
  double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  return sum / static_cast<double>(numbers.size());
}

double deviation(Numbers numbers) {
  check_numbers("deviation", numbers, 2);
  check_finite("deviation", numbers);
  double middle = mean(numbers), squares = 0;
  for (double x : numbers) squares += (x - middle) * (x - middle);
  return std::sqrt(squares / static_cast<double>(numbers.size() - 1));
}

double quantile(Numbers numbers, double q) {
  check_numbers("quantile", numbers, 1);
  if (!(q >= 0 && q <= 1)) fail("quantile: the share {} is not from 0 to 1", q);
  std::vector<double> sorted(numbers.begin(), numbers.end());
  double place = q * static_cast<double>(sorted.size() - 1);
  auto below = sorted.begin() + static_cast<long>(place);
  std::nth_element(sorted.begin(), below, sorted.end());
  double rest = place - std::floor(place);
  if (rest == 0) return *below;
  double above = *std::min_element(below + 1, sorted.end());
  return *below == above ? above : *below + rest * (above - *below);
}

double median(Numbers numbers) { return quantile(numbers, 0.5); }

std::vector<double> ranks(Numbers numbers) {
  check_numbers("ranks", numbers, 0);
  std::vector<size_t> order = counted(numbers.size());
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  std::vector<double> result(numbers.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && numbers[order[end]] == numbers[order[first]]) ++end;
    for (size_t i = first; i < end; ++i)
      result[order[i]] = static_cast<double>(first + end + 1) / 2;
    first = end;
  }
  return result;
}

double pearson(Numbers x, Numbers y) {
  check_pairs("pearson", x, y);
  check_finite("pearson", x);
  check_finite("pearson", y);
  double mean_x = mean(x), mean_y = mean(y), xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double dx = x[i] - mean_x, dy = y[i] - mean_y;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  return std::clamp(xy / (std::sqrt(xx) * std::sqrt(yy)), -1.0, 1.0);
}

double spearman(Numbers x, Numbers y) {
  check_pairs("spearman", x, y);
  return pearson(ranks(x), ranks(y));
}

double kendall(Numbers x, Numbers y) {
  check_pairs("kendall", x, y);
  size_t count = x.size();
  std::vector<size_t> order = counted(count);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return x[a] != x[b] ? x[a] < x[b] : y[a] < y[b]; });
  std::vector<double> sorted = picked(y, order);
  double tied_x = tied_pairs(count, [&](size_t i) { return x[order[i]] == x[order[i - 1]]; });
  double tied_both = tied_pairs(count, [&](size_t i) {
    return x[order[i]] == x[order[i - 1]] && sorted[i] == sorted[i - 1];
  });
  double swaps = sort_and_count(sorted);
  double tied_y = tied_pairs(count, [&](size_t i) { return sorted[i] == sorted[i - 1]; });
  double all = pairs_of(static_cast<double>(count));
  double balance = all - tied_x - tied_y + tied_both - 2 * swaps;
  return std::clamp(balance / (std::sqrt(all - tied_x) * std::sqrt(all - tied_y)), -1.0, 1.0);
}

double roc_area(Numbers numbers, const std::vector<bool>& marked) {
  if (numbers.size() != marked.size()) {
    fail("roc_area: {} numbers and {} marks make no pairs", numbers.size(), marked.size());
  }
  check_numbers("roc_area", numbers, 2);
  auto positive = static_cast<double>(std::count(marked.begin(), marked.end(), true));
  double negative = static_cast<double>(marked.size()) - positive;
  if (positive == 0 || negative == 0) {
    fail("roc_area: {} numbers are marked; it compares them with others",
         positive == 0 ? "no" : "all");
  }
  std::vector<double> places = ranks(numbers);
  double sum = 0;
  for (size_t i = 0; i < places.size(); ++i) sum += marked[i] ? places[i] : 0;
  return (sum - positive * (positive + 1) / 2) / (positive * negative);
}

std::vector<double> picked(Numbers numbers, std::span<const size_t> places) {
  std::vector<double> result;
  result.reserve(places.size());
  for (size_t place : places) result.push_back(numbers[place]);
  return result;
}

Interval bootstrap(size_t count, const std::function<double(std::span<const size_t>)>& statistic,
                   const Resampling& resampling) {
  check_level("bootstrap", resampling.level);
  if (count < 2) fail("bootstrap: {} observations where at least 2 are needed", count);
  if (resampling.samples < 1) fail("bootstrap: {} samples are too few", resampling.samples);
  Random random(resampling.seed, "bootstrap");
  std::vector<double> values;
  std::vector<size_t> places(count);
  for (int sample = 0; sample < resampling.samples; ++sample) {
    for (size_t& place : places) place = random.below(count);
    try {
      double value = statistic(places);
      if (!std::isnan(value)) values.push_back(value);
    } catch (const UserError&) {
      continue;  // A sample may be one observation many times, which has no order, say.
    }
  }
  if (2 * values.size() < static_cast<size_t>(resampling.samples)) {
    fail("bootstrap: of {} samples, only {} have a value", resampling.samples, values.size());
  }
  double outside = (1 - resampling.level) / 2;
  return {quantile(values, outside), quantile(values, 1 - outside)};
}

Interval mean_interval(Numbers numbers, double level) {
  check_level("mean_interval", level);
  check_numbers("mean_interval", numbers, 2);
  auto count = static_cast<double>(numbers.size());
  double reach =
      student_quantile((1 + level) / 2, count - 1) * deviation(numbers) / std::sqrt(count);
  double middle = mean(numbers);
  return {middle - reach, middle + reach};
}

double student_quantile(double probability, double degrees_of_freedom) {
  check_level("student_quantile", probability);
  if (!(degrees_of_freedom > 0 && std::isfinite(degrees_of_freedom))) {
    fail("student_quantile: {} degrees of freedom", degrees_of_freedom);
  }
  if (probability == 0.5) return 0;
  double tail = std::min(probability, 1 - probability), low = 0, high = 1;
  while (student_tail(high, degrees_of_freedom) > tail) {
    low = high;
    high *= 2;
    if (std::isinf(high)) fail("student_quantile: the one of {} is too large", probability);
  }
  while (true) {
    double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (student_tail(middle, degrees_of_freedom) > tail ? low : high) = middle;
  }
  return probability < 0.5 ? -high : high;
}

double incomplete_beta(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1))
    fail("incomplete_beta: no value at ({}, {}, {})", a, b, x);
  if (x == 0 || x == 1) return x;
  double log_factor =
      log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x);
  double factor = std::exp(log_factor);
  bool mirrored = x > (a + 1) / (a + b + 2);
  return mirrored ? 1 - factor * beta_fraction(b, a, 1 - x) / b
                  : factor * beta_fraction(a, b, x) / a;
}

}  // namespace lathe
