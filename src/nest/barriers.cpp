// barriers.cpp: barriers from dependences. Interface: barriers.h.
//
// For each dependence the pairs are kept whose instances run in different threads of one block.
// They are followed down the loops that each thread runs: where source and sink stand in different
// places of a body, a barrier is needed between the two; where a loop carries the pair, somewhere
// on the way from the source to the end of the body, or from its beginning to the sink. A place for
// a barrier that several pairs can share is taken once.
#include "nest/barriers.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "nest/marks.h"
#include "nest/threads.h"

namespace lathe {
namespace {

/// A barrier that is needed in a body: behind place "after", and not behind place "before". Of a
/// carried pair one of the two is enough.
struct Need {
  long after, before;
  bool carried;
};

bool is_met(const Need& need, const std::set<long>& chosen) {
  return std::any_of(chosen.begin(), chosen.end(), [&](long at) {
    bool behind = at > need.after, ahead = at <= need.before;
    return need.carried ? behind || ahead : behind && ahead;
  });
}

class Synchronising {
 public:
  Synchronising(const Nest& nest, Copies copies) : nest_(nest), copies_(copies) {
    result_.handed.assign(nest.tensors().size(), false);
    crosses_.assign(nest.tensors().size(), Space::privately);
  }

  Synchronised run() {
    const Dependences& dependences = nest_.meaning->dependences();
    for (const Dependence& d : dependences.ordered) {
      if (result_.violation) return result_;
      follow(d);
    }
    for (const Reduction& r : dependences.reductions) {
      if (result_.violation) return result_;
      if (!stay_together(r)) follow(pairs_of(r, nest_.statements()));
    }
    for (auto& [body, needs] : needs_) choose(body, needs);
    std::sort(result_.barriers.begin(), result_.barriers.end());
    return result_;
  }

  /// Returns which space holds all that a tensor hands on. Violations are not looked for.
  std::vector<Space> spaces() {
    only_spaces_ = true;
    run();
    return crosses_;
  }

 private:
  const Nest& nest_;
  Copies copies_;
  bool only_spaces_ = false;
  Synchronised result_;
  std::vector<Space> crosses_;
  std::map<std::vector<long>, std::vector<Need>> needs_;

  const Order& order(size_t s) const { return nest_.order[s]; }

  /// Do all updates of an element run in one thread, because the axes depend only on coordinates
  /// that they share?
  bool stay_together(const Reduction& r) const {
    if (order(r.first).at[0] != order(r.second).at[0]) return true;
    if (r.shared.empty()) return count_axes(order(r.first)) == 0;
    const Order& one = order(r.first);
    for (size_t i = 0; i < count_axes(one); ++i) {
      for (size_t k = 0; k < r.shared.size(); ++k) {
        if (!r.shared[k] && poly::involves(one.loops[i].value, k)) return false;
      }
    }
    return true;
  }

  bool in_space(const Dependence& d, Space space) const {
    return nest_.tensors()[d.tensor].space == space;
  }

  void violate(const Dependence& d, const isl::set& pairs, Violation::How how, const Loop* loop) {
    if (!only_spaces_ && !result_.violation) result_.violation = violation_of(d, pairs, how, loop);
  }

  void follow(const Dependence& d) {
    const Order &a = order(d.source), &b = order(d.sink);
    if (a.at[0] != b.at[0]) return;
    if (copies_ == Copies::own && in_space(d, Space::privately)) return;
    isl::set pairs = d.pairs;
    isl::aff zero = poly::constant(pairs.space(), 0);
    size_t axes = count_axes(a), first_thread = 0;
    while (first_thread < axes && is_block(a.loops[first_thread].mark)) ++first_thread;
    for (size_t i = 0; i < first_thread; ++i) {
      isl::aff ahead = distance(d, nest_.order, i);
      if (poly::shows_zero(pairs, ahead)) continue;
      isl::set same = pairs.intersect(ahead.eq_set(zero));
      bool own = copies_ == Copies::own && in_space(d, Space::shared);
      isl::set apart = pairs.intersect(ahead.ne_set(zero));
      if (!own && !apart.is_empty()) {
        crosses_[d.tensor] = Space::global;
        return violate(d, apart, Violation::How::apart, &a.loops[i]);
      }
      pairs = same;
    }
    for (size_t i = first_thread; i < axes; ++i) {
      isl::aff ahead = distance(d, nest_.order, i);
      if (poly::shows_zero(pairs, ahead)) continue;
      isl::set apart = pairs.intersect(ahead.ne_set(zero));
      if (!apart.is_empty()) {
        hand_on(d, apart, a.loops[i]);
        if (result_.violation) return;
      }
      pairs = pairs.intersect(ahead.eq_set(zero));
    }
  }

  /// Notes the barriers for pairs of different threads of one block.
  void hand_on(const Dependence& d, isl::set pairs, const Loop& axis) {
    if (crosses_[d.tensor] == Space::privately) crosses_[d.tensor] = Space::shared;
    result_.handed[d.tensor] = true;
    if (in_space(d, Space::privately)) return violate(d, pairs, Violation::How::hidden, &axis);
    if (only_spaces_) return;
    bool either = d.kind == Dependence::Kind::reduction;
    const Order &a = order(d.source), &b = order(d.sink);
    size_t shared = shared_loops(a, b);
    isl::aff zero = poly::constant(pairs.space(), 0);
    for (size_t depth = count_axes(a);; ++depth) {
      if (a.at[depth] != b.at[depth]) {
        if (!either && a.at[depth] > b.at[depth]) {
          return violate(d, pairs, Violation::How::apart, &axis);
        }
        auto [first, last] = std::minmax(a.at[depth], b.at[depth]);
        return add(a, depth, {first, last, false});
      }
      if (depth == shared) return violate(d, pairs, Violation::How::apart, &axis);
      isl::aff ahead = distance(d, nest_.order, depth);
      if (poly::shows_zero(pairs, ahead)) continue;
      isl::set later = pairs.intersect(ahead.gt_set(zero));
      isl::set earlier = pairs.intersect(ahead.lt_set(zero));
      if (!earlier.is_empty()) {
        if (!either) return violate(d, earlier, Violation::How::apart, &axis);
        add(a, depth + 1, {b.at[depth + 1], a.at[depth + 1], true});
      }
      if (!later.is_empty()) add(a, depth + 1, {a.at[depth + 1], b.at[depth + 1], true});
      pairs = pairs.intersect(ahead.eq_set(zero));
      if (pairs.is_empty()) return;
    }
  }

  void add(const Order& of, size_t depth, Need need) {
    needs_[{of.at.begin(), of.at.begin() + static_cast<long>(depth)}].push_back(need);
  }

  /// Returns how many places a body has.
  long size_of_body(const std::vector<long>& body) const {
    long size = 0;
    for (const Order& o : nest_.order) {
      if (o.at.size() <= body.size()) continue;
      if (!std::equal(body.begin(), body.end(), o.at.begin())) continue;
      size = std::max(size, o.at[body.size()] + 1);
    }
    return size;
  }

  void choose(const std::vector<long>& body, std::vector<Need>& needs) {
    std::sort(needs.begin(), needs.end(), [](const Need& a, const Need& b) {
      return std::pair(a.carried, a.before) < std::pair(b.carried, b.before);
    });
    std::set<long> chosen;
    for (const Need& need : needs) {
      if (is_met(need, chosen)) continue;
      chosen.insert(need.carried ? size_of_body(body) : need.before);
    }
    for (long before : chosen) result_.barriers.push_back({body, before});
  }
};

/// Do statements of several kernels touch a tensor?
std::vector<bool> between_kernels(const Nest& nest) {
  std::vector<bool> result(nest.tensors().size(), false);
  std::map<size_t, long> kernel;
  auto touch = [&](size_t tensor, long place) {
    auto [at, is_new] = kernel.emplace(tensor, place);
    if (!is_new && at->second != place) result[tensor] = true;
  };
  for (size_t s = 0; s < nest.statements().size(); ++s) {
    long place = nest.order[s].at[0];
    touch(nest.statements()[s].write.tensor, place);
    for (const Access& read : nest.statements()[s].reads) touch(read.tensor, place);
  }
  return result;
}

}  // namespace

Synchronised synchronised(const Nest& threads, Copies copies) {
  return Synchronising(threads, copies).run();
}

std::vector<Space> settled_spaces(const Nest& threads) {
  std::vector<Space> needed = Synchronising(threads, Copies::one).spaces();
  std::vector<bool> outside = between_kernels(threads);
  for (size_t t = 0; t < needed.size(); ++t) {
    const Tensor& tensor = threads.tensors()[t];
    if (tensor.role != Role::local || outside[t]) {
      if (tensor.space == Space::shared || tensor.space == Space::privately) {
        fail(
            "{} is in {} memory, which lasts for one kernel, but several kernels touch it: put "
            "them inside one loop of blocks",
            tensor.name, name_of(tensor.space));
      }
      needed[t] = Space::global;
    } else if (tensor.space != Space::nearest) {
      needed[t] = tensor.space;
    }
  }
  return needed;
}

}  // namespace lathe
