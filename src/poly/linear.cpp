// linear.cpp: arithmetic on functions taken apart. Interface: linear.h.
#include "poly/linear.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace lathe::poly {
namespace {

long floor_div(long a, long b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// Adds  coefficient * floor(of)  to "sum".
void add_floor(Affine& sum, long coefficient, const Affine& of) {
  if (coefficient == 0) return;
  for (auto& floor : sum.floors) {
    if (!same(floor.of, of)) continue;
    floor.coefficient += coefficient;
    return;
  }
  sum.floors.push_back({coefficient, of});
}

/// Takes from  rest / divisor  what cannot change it: in (4*x + y) / 16 with 0 <= y < 4, y; what is
/// left has a common factor with the divisor, which goes too: x / 4.
void drop_low_part(Affine& rest, long& divisor, const std::vector<Interval>& ranges) {
  std::vector<long> steps;
  for (long c : rest.coefficients) steps.push_back(c);
  for (const auto& floor : rest.floors) steps.push_back(floor.coefficient);
  std::sort(steps.begin(), steps.end());
  for (long least : steps) {
    if (least <= 0) continue;
    long common = divisor;
    for (long c : steps) {
      if (c >= least) common = std::gcd(common, c);
    }
    if (common == 1) continue;
    Affine low = rest, high = rest;
    high.constant = 0;
    for (size_t i = 0; i < rest.coefficients.size(); ++i) {
      (rest.coefficients[i] >= least ? low : high).coefficients[i] = 0;
    }
    std::erase_if(low.floors, [&](const Affine::Floor& f) { return f.coefficient >= least; });
    std::erase_if(high.floors, [&](const Affine::Floor& f) { return f.coefficient < least; });
    Interval range = bounds(low, ranges);
    if (range.lower < 0 || range.upper >= common) continue;
    for (long& c : high.coefficients) c /= common;
    for (auto& floor : high.floors) floor.coefficient /= common;
    rest = high;
    divisor /= common;
    // What is lowest now may be too low, too: (8*w + 2*x + y) / 32 with 0 <= y < 2, 0 <= x < 4.
    return drop_low_part(rest, divisor, ranges);
  }
}

}  // namespace

bool same(const Affine& a, const Affine& b) {
  if (a.constant != b.constant || a.divisor != b.divisor || a.coefficients != b.coefficients ||
      a.floors.size() != b.floors.size()) {
    return false;
  }
  for (size_t i = 0; i < a.floors.size(); ++i) {
    if (a.floors[i].coefficient != b.floors[i].coefficient) return false;
    if (!same(a.floors[i].of, b.floors[i].of)) return false;
  }
  return true;
}

Affine constant_of(size_t arity, long value) {
  Affine a;
  a.coefficients.assign(arity, 0);
  a.constant = value;
  return a;
}

Affine plus(const Affine& a, const Affine& b, long factor) {
  check(a.divisor == 1 && b.divisor == 1, "only integral functions are added");
  Affine sum = a;
  for (size_t i = 0; i < sum.coefficients.size(); ++i) {
    sum.coefficients[i] += factor * b.coefficients[i];
  }
  sum.constant += factor * b.constant;
  for (const auto& floor : b.floors) add_floor(sum, factor * floor.coefficient, floor.of);
  std::erase_if(sum.floors, [](const Affine::Floor& floor) { return floor.coefficient == 0; });
  return sum;
}

Affine floor_of(const Affine& a, long divisor, const std::vector<Interval>& ranges) {
  check(a.divisor == 1 && divisor > 0, "a floor is taken of an integral function");
  Affine whole = constant_of(a.coefficients.size(), 0), rest = whole;
  auto put = [&](long value, long& in_whole, long& in_rest) {
    in_whole = floor_div(value, divisor);
    in_rest = value - in_whole * divisor;
  };
  for (size_t i = 0; i < a.coefficients.size(); ++i) {
    put(a.coefficients[i], whole.coefficients[i], rest.coefficients[i]);
  }
  put(a.constant, whole.constant, rest.constant);
  for (const auto& floor : a.floors) {
    long in_whole = 0, in_rest = 0;
    put(floor.coefficient, in_whole, in_rest);
    add_floor(whole, in_whole, floor.of);
    add_floor(rest, in_rest, floor.of);
  }
  drop_low_part(rest, divisor, ranges);
  Interval range = bounds(rest, ranges);
  long low = floor_div(range.lower, divisor);
  if (low == floor_div(range.upper, divisor)) {
    whole.constant += low;
    return whole;
  }
  rest.divisor = divisor;
  add_floor(whole, 1, rest);
  return whole;
}

/// Returns the bounds of "a" with one floor seen as a remainder:  f*(n / d)  is  f/d * (n - n % d).
static Interval bounds_with_remainder(const Affine& a, size_t floor,
                                      const std::vector<Interval>& ranges) {
  long d = a.floors[floor].of.divisor, times = a.floors[floor].coefficient / d;
  Affine numerator = a.floors[floor].of;
  numerator.divisor = 1;
  Affine rest = a;
  rest.divisor = 1;
  rest.floors.erase(rest.floors.begin() + static_cast<long>(floor));
  Interval result = bounds(plus(rest, numerator, times), ranges);
  long most = -times * (d - 1);
  result = {result.lower + std::min(0L, most), result.upper + std::max(0L, most)};
  return {floor_div(result.lower, a.divisor), floor_div(result.upper, a.divisor)};
}

Interval bounds(const Affine& a, const std::vector<Interval>& ranges) {
  Interval result{a.constant, a.constant};
  auto add = [&](long coefficient, const Interval& range) {
    result.lower += coefficient * (coefficient > 0 ? range.lower : range.upper);
    result.upper += coefficient * (coefficient > 0 ? range.upper : range.lower);
  };
  for (size_t i = 0; i < a.coefficients.size(); ++i) {
    if (a.coefficients[i] != 0) add(a.coefficients[i], ranges[i]);
  }
  for (const auto& floor : a.floors) add(floor.coefficient, bounds(floor.of, ranges));
  result = {floor_div(result.lower, a.divisor), floor_div(result.upper, a.divisor)};
  for (size_t k = 0; k < a.floors.size(); ++k) {
    if (a.floors[k].coefficient % a.floors[k].of.divisor != 0) continue;
    Interval other = bounds_with_remainder(a, k, ranges);
    result = {std::max(result.lower, other.lower), std::min(result.upper, other.upper)};
    break;
  }
  return result;
}

Affine narrowed(const Affine& a, const std::vector<Interval>& ranges) {
  Affine result = constant_of(a.coefficients.size(), a.constant);
  for (size_t i = 0; i < a.coefficients.size(); ++i) {
    if (ranges[i].lower == ranges[i].upper) {
      result.constant += a.coefficients[i] * ranges[i].lower;
    } else {
      result.coefficients[i] = a.coefficients[i];
    }
  }
  for (const auto& floor : a.floors) {
    Affine inner = floor.of;
    long divisor = inner.divisor;
    inner.divisor = 1;
    result = plus(result, floor_of(narrowed(inner, ranges), divisor, ranges), floor.coefficient);
  }
  result.divisor = a.divisor;
  return result;
}

}  // namespace lathe::poly
