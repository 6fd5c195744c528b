// guard.cpp: what ranges say about conditions. Interface: guard.h.
#include "codegen/guard.h"

#include <algorithm>

namespace lathe {
namespace {

/// Returns a function without the last coordinates, as far as they do not matter.
poly::Affine shortened(poly::Affine a) {
  while (!a.coefficients.empty() && a.coefficients.back() == 0) a.coefficients.pop_back();
  for (auto& floor : a.floors) floor.of = shortened(floor.of);
  return a;
}

}  // namespace

bool can_hold(const Guard& guard, const std::vector<poly::Interval>& ranges, Guard& open) {
  open.clear();
  if (guard.empty()) return true;
  for (const auto& piece : guard) {
    std::vector<poly::Constraint> kept;
    bool possible = true;
    for (const poly::Constraint& c : piece) {
      poly::Interval range = poly::bounds(c.expression, ranges);
      if (range.upper < 0 || (c.equality && range.lower > 0)) possible = false;
      bool holds = c.equality ? range.lower == 0 && range.upper == 0 : range.lower >= 0;
      if (!holds) kept.push_back({poly::narrowed(c.expression, ranges), c.equality});
    }
    if (!possible) continue;
    if (kept.empty()) {
      open.clear();
      return true;
    }
    open.push_back(std::move(kept));
  }
  return !open.empty();
}

bool same(const Guard& a, const Guard& b) {
  auto alike = [](const poly::Constraint& x, const poly::Constraint& y) {
    return x.equality == y.equality && poly::same(shortened(x.expression), shortened(y.expression));
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), alike);
  });
}

}  // namespace lathe
