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

/// Returns the loops of a statement that run over updates of one element: those that depend on a
/// coordinate that does not index the element.
std::vector<const Loop*> summing_loops(const Statement& s, const Order& order) {
  std::vector<size_t> summed;
  for (size_t i = 0; i < s.dims.size(); ++i) {
    if (!poly::involves(s.write.at, i)) summed.push_back(i);
  }
  std::vector<const Loop*> loops;
  for (const Loop& loop : order.loops) {
    bool sums = std::any_of(summed.begin(), summed.end(),
                            [&](size_t i) { return poly::involves(loop.value, i); });
    if (sums) loops.push_back(&loop);
  }
  return loops;
}

/// Returns when, among the updates of one element, an instance runs: the number whose digits are
/// the summing loops, without what is the same for all these updates.
std::string turn(const Statement& s, const std::vector<const Loop*>& summing) {
  std::vector<SumLoop> loops;
  for (const Loop* loop : summing) {
    loops.push_back({loop->value, loop->extent});
    while (loops.size() >= 2) {
      auto whole = undo_split(s, loops[loops.size() - 2], loops.back());
      if (!whole) break;
      loops.pop_back();
      loops.back() = *whole;
    }
  }
  isl::aff number = poly::constant(s.domain.space(), 0);
  for (const SumLoop& loop : loops) number = number.scale(loop.extent).add(loop.value);
  poly::Affine result = poly::take_apart(number);
  for (size_t i = 0; i < s.dims.size(); ++i) {
    if (result.is_linear() && poly::involves(s.write.at, i)) result.coefficients[i] = 0;
  }
  return poly::text(result, s.dims);
}

/// Are the updates of one element added in the same order?
bool same_turns(const Statement& s, const Order& before, const Order& after) {
  std::vector<const Loop*> was = summing_loops(s, before), is = summing_loops(s, after);
  bool same_loops =
      std::equal(was.begin(), was.end(), is.begin(), is.end(), [](const Loop* a, const Loop* b) {
        return a->extent == b->extent && poly::same(a->value, b->value);
      });
  return same_loops || turn(s, was) == turn(s, is);
}

/// Do the two statements add to common elements, and has their sequence changed?
bool turned_around(const Reduction& r, const Nest& before, const Nest& after) {
  if (r.first == r.second || before.statements()[r.first].update != Update::add) return false;
  bool was = before.order[r.first].at < before.order[r.second].at;
  bool is = after.order[r.first].at < after.order[r.second].at;
  return was != is && !pairs_of(r, before.statements()).pairs.is_empty();
}

/// Names the sums whose terms are added in another order than before.
std::string reassociated(const Nest& before, const Nest& after) {
  if (before.meaning != after.meaning) return "";
  std::vector<std::string> sums;
  for (size_t i = 0; i < before.statements().size(); ++i) {
    const Statement& s = before.statements()[i];
    if (s.update != Update::add) continue;
    if (!same_turns(s, before.order[i], after.order[i])) {
      sums.push_back(after.tensors()[s.write.tensor].name);
    }
  }
  for (const Reduction& r : before.meaning->dependences().reductions) {
    if (!turned_around(r, before, after)) continue;
    sums.push_back(after.tensors()[before.statements()[r.first].write.tensor].name);
  }
  return sums.empty() ? "" : fmt::format("the sum in {} is re-associated", fmt::join(sums, ", "));
}

Verdict judge(const Nest& before, const Applied& applied, const Limits&) {
  const Nest& after = applied.nest;
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
