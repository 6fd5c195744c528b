// dependence.cpp: program steps are legal if every dependence still points forward (section 4.1 of
// the paper). Updates of one element may change their order: that re-associates a sum, which is
// allowed and said.
#include "nest/dependence.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "legality/legality.h"

namespace lathe::legality {
namespace {

struct SumLoop {
  isl::aff value;
  long extent;
};

/// If the two loops are  x / c  and  x % c, they run like x.
std::optional<SumLoop> undo_split(const Statement& s, const SumLoop& outer, const SumLoop& inner) {
  if (!outer.value.involves_locals()) return std::nullopt;
  long factor = inner.extent;
  isl::aff whole = outer.value.scale(factor).add(inner.value);
  bool halves = poly::same(poly::quotient(whole, factor), outer.value) &&
                poly::same(poly::remainder(whole, factor), inner.value);
  if (!halves) return std::nullopt;
  return SumLoop{whole, poly::range(s.domain, whole).upper + 1};
}

/// Does coordinate "i" tell apart updates of one element?
bool sums_over(const Statement& s, size_t i) { return !poly::involves(s.write.at, i); }

/// Returns the loops of a statement that run over updates of one element.
std::vector<SumLoop> summing_loops(const Statement& s, const Order& order) {
  std::vector<SumLoop> loops;
  for (const Loop& loop : order.loops) {
    bool sums = false;
    for (size_t i = 0; i < s.dims.size(); ++i) {
      sums = sums || (sums_over(s, i) && poly::involves(loop.value, i));
    }
    if (!sums) continue;
    loops.push_back({loop.value, loop.extent});
    while (loops.size() >= 2) {
      auto whole = undo_split(s, loops[loops.size() - 2], loops.back());
      if (!whole) break;
      loops.pop_back();
      loops.back() = *whole;
    }
  }
  return loops;
}

/// Returns when, among the updates of one element, an instance runs: the number whose digits are
/// the summing loops, without what is the same for all these updates.
poly::Affine turn(const Statement& s, const Order& order) {
  isl::aff number = poly::constant(s.domain.space(), 0);
  for (const SumLoop& loop : summing_loops(s, order)) {
    number = number.scale(loop.extent).add(loop.value);
  }
  poly::Affine result = poly::take_apart(number);
  for (size_t i = 0; i < s.dims.size(); ++i) {
    if (result.is_linear() && !sums_over(s, i)) result.coefficients[i] = 0;
  }
  return result;
}

/// Names the sums whose terms are added in another order than before.
std::string reassociated(const Nest& before, const Nest& after) {
  if (before.meaning != after.meaning) return "";
  std::vector<std::string> sums;
  for (size_t i = 0; i < before.statements().size(); ++i) {
    const Statement& s = before.statements()[i];
    if (s.update != Update::add) continue;
    std::string was = poly::text(turn(s, before.order[i]), s.dims);
    std::string is = poly::text(turn(s, after.order[i]), s.dims);
    if (was != is) sums.push_back(after.tensors()[s.write.tensor].name);
  }
  return sums.empty() ? "" : fmt::format("the sum in {} is re-associated", fmt::join(sums, ", "));
}

Verdict judge(const Nest& before, const Nest& after) {
  Judgement judgement = judge_order(after);
  if (judgement.violation) {
    return {Verdict::Kind::refused, explain(*judgement.violation, after),
            witness(*judgement.violation, after)};
  }
  Verdict verdict{Verdict::Kind::exact, reassociated(before, after), ""};
  if (!judgement.lane_sums.empty() && judge_order(before).lane_sums != judgement.lane_sums) {
    verdict.reason += fmt::format("{}the lanes of '{}' are summed at the end: re-associated",
                                  verdict.reason.empty() ? "" : "; ", judgement.lane_sums.back());
  }
  return verdict;
}

}  // namespace

Judge dependence() {
  return {"dependence", Transform::Kind::program, "every dependence still points forward", judge};
}

}  // namespace lathe::legality
