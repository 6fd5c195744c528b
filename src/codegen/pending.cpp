// pending.cpp: sums that wait. Interface: pending.h.
#include "codegen/pending.h"

#include <algorithm>
#include <cmath>

namespace lathe {
namespace {

using Sum = std::map<size_t, double>;

/// Has the sum both a and b, b as so many times a?
bool has_both(const Sum& sum, size_t a, size_t b, double ratio) {
  auto x = sum.find(a), y = sum.find(b);
  return x != sum.end() && y != sum.end() && y->second == ratio * x->second;
}

/// Replaces the multiples of a and b by one of "both".
void replace(Sum& sum, size_t a, size_t b, size_t both) {
  double factor = sum.at(a);
  sum.erase(a);
  sum.erase(b);
  sum[both] += factor;
}

/// Which of two terms is taken once, and the other as a multiple of it? The smaller, and of equal
/// ones one that is not subtracted.
bool is_base(double factor, double other) {
  if (std::abs(factor) != std::abs(other)) return std::abs(factor) < std::abs(other);
  return factor > 0 || other < 0;
}

}  // namespace

void PendingSums::add(size_t variable, double factor, size_t value) {
  sums_.at(variable)[value] += factor;
}

std::optional<size_t> PendingSums::next() const {
  if (sums_.empty()) return std::nullopt;
  return sums_.begin()->first;
}

/// Finds two terms that another sum has in the same ratio, and makes them one in all that do.
bool PendingSums::take_common(Sum& sum, size_t variable, const Plus& plus) {
  for (auto x = sum.begin(); x != sum.end(); ++x) {
    for (auto y = std::next(x); y != sum.end(); ++y) {
      auto [base, scaled] = is_base(x->second, y->second) ? std::pair(x, y) : std::pair(y, x);
      size_t a = base->first, b = scaled->first;
      double ratio = scaled->second / base->second;
      if (scaled->second != ratio * base->second) continue;
      auto known = common_.find({a, b, ratio});
      bool shared =
          known != common_.end() || std::any_of(sums_.begin(), sums_.end(), [&](const auto& other) {
            return other.first != variable && has_both(other.second, a, b, ratio);
          });
      if (!shared) continue;
      size_t both = known != common_.end() ? known->second : plus(a, ratio, b);
      common_[{a, b, ratio}] = both;
      for (auto& [other, terms] : sums_) {
        if (has_both(terms, a, b, ratio)) replace(terms, a, b, both);
      }
      return true;
    }
  }
  return false;
}

std::optional<size_t> PendingSums::settle(size_t variable, const Plus& plus) {
  Sum& sum = sums_.at(variable);
  while (take_common(sum, variable, plus)) {
  }
  std::vector<std::pair<size_t, double>> terms(sum.begin(), sum.end());
  std::erase_if(terms, [](const auto& term) { return term.second == 0; });
  // What needs no product comes first: products are added to it at once.
  std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
    auto rank = [](double factor) { return factor == 1 ? 0 : factor == -1 ? 2 : 1; };
    return rank(a.second) < rank(b.second);
  });
  std::optional<size_t> result;
  for (const auto& [value, factor] : terms) result = plus(result, factor, value);
  drop(variable);
  return result;
}

}  // namespace lathe
