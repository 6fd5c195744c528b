// dependence.cpp: the pairs of instances whose order matters. Interface: dependence.h.
//
// 1. Two accesses to one tensor conflict where they touch the same element and one of them writes.
// 2. Walking down the loops that both statements share, the pairs split into those that the order
//    already separates and those that are still together; source and sink follow from that.
// Pairs are kept as a function sink -> source, or source -> sink, where there is one: judging is
// then about ten times quicker than on relations, whose sets have twice the coordinates.
#include "nest/dependence.h"

#include <algorithm>

#include "base/error.h"

namespace lathe {
namespace {

isl::multi_aff slice(const isl::space& space, size_t from, size_t count) {
  std::vector<isl::aff> picked;
  for (size_t i = 0; i < count; ++i) picked.push_back(poly::coordinate(space, from + i));
  return poly::tuple(space, picked);
}

/// Keeps the pairs in which both functions agree.
isl::set where_equal(isl::set pairs, const isl::multi_aff& a, const isl::multi_aff& b) {
  for (unsigned i = 0; i < a.size(); ++i) {
    int at = static_cast<int>(i);
    if (!poly::same(a.at(at), b.at(at))) pairs = pairs.intersect(a.at(at).eq_set(b.at(at)));
  }
  return pairs;
}

/// Pairs of instances, and how to find them.
struct Pairs {
  isl::set set;
  isl::multi_aff source_at, sink_at;
};

/// Instances of one statement, and for each of them that of another.
struct Partners {
  isl::set set;
  isl::multi_aff other_at;
};

/// Returns the instances of "one" that touch an element which "other" does, too, if the element
/// tells its instance: possible if each coordinate of that is itself an index of the element.
std::optional<Partners> partners(const Statement& one, const Access& to, const Statement& other,
                                 const Access& from) {
  std::vector<isl::aff> picked;
  for (size_t i = 0; i < other.dims.size(); ++i) {
    isl::aff wanted = poly::coordinate(other.domain.space(), i);
    unsigned index = 0;
    while (index < from.at.size() && !poly::same(from.at.at(static_cast<int>(index)), wanted)) {
      ++index;
    }
    if (index == from.at.size()) return std::nullopt;
    picked.push_back(to.at.at(static_cast<int>(index)));
  }
  isl::multi_aff other_at = poly::tuple(one.domain.space(), picked);
  isl::set set = poly::mapped_into(one.domain, other_at, other.domain);
  return Partners{where_equal(set, from.at.pullback(other_at), to.at), other_at};
}

/// Pairs all instances of "source" and "sink" that touch the same element.
Pairs all_pairs(const Statement& source, const Access& from, const Statement& sink,
                const Access& to) {
  if (auto sinks = partners(sink, to, source, from)) {
    return {sinks->set, sinks->other_at, poly::identity(sink.domain.space())};
  }
  if (auto sources = partners(source, from, sink, to)) {
    return {sources->set, poly::identity(source.domain.space()), sources->other_at};
  }
  isl::set product = isl::manage(isl_set_flat_product(source.domain.copy(), sink.domain.copy()));
  isl::multi_aff source_at = slice(product.space(), 0, source.dims.size());
  isl::multi_aff sink_at = slice(product.space(), source.dims.size(), sink.dims.size());
  isl::set set = where_equal(product, from.at.pullback(source_at), to.at.pullback(sink_at));
  return {set, source_at, sink_at};
}

void add_if_any(std::vector<Dependence>& list, Dependence d, isl::set pairs) {
  d.pairs = std::move(pairs);
  if (!d.pairs.is_empty()) list.push_back(std::move(d));
}

/// Adds those pairs of "d" in which the order runs the source first.
void add_ordered(std::vector<Dependence>& list, Dependence d, const std::vector<Order>& order) {
  const Order& a = order[d.source];
  const Order& b = order[d.sink];
  size_t shared = shared_loops(a, b);
  for (size_t depth = 0;; ++depth) {
    if (a.at[depth] != b.at[depth]) {
      if (a.at[depth] < b.at[depth]) add_if_any(list, d, d.pairs);
      return;
    }
    if (depth == shared) return;
    isl::aff ahead = distance(d, order, depth);
    isl::aff zero = poly::constant(d.pairs.space(), 0);
    std::optional<long> everywhere = poly::constant_on(d.pairs, ahead);
    if (everywhere == 0) continue;
    if (everywhere) {
      if (*everywhere > 0) add_if_any(list, d, d.pairs);
      return;
    }
    add_if_any(list, d, d.pairs.intersect(ahead.gt_set(zero)));
    d.pairs = d.pairs.intersect(ahead.eq_set(zero));
    if (d.pairs.is_empty()) return;
  }
}

bool commute(const Statement& a, const Statement& b) {
  return a.update == b.update && a.update != Update::assign;
}

/// May some instance of "a" run before one of "b"?
bool may_precede(const Order& a, const Order& b) {
  return shared_loops(a, b) > 0 || a.at[0] <= b.at[0];
}

Dependence conflicts(Dependence::Kind kind, size_t s, size_t t,
                     const std::vector<Statement>& statements, const Access& from,
                     const Access& to) {
  Pairs pairs = all_pairs(statements[s], from, statements[t], to);
  return {kind, from.tensor, s, t, pairs.set, pairs.source_at, pairs.sink_at};
}

/// Adds the dependences from the instances of statement "s" to those of statement "t".
void add_between(std::vector<Dependence>& list, size_t s, size_t t,
                 const std::vector<Statement>& statements, const std::vector<Order>& order) {
  const Statement& source = statements[s];
  const Statement& sink = statements[t];
  using Kind = Dependence::Kind;
  auto add = [&](Kind kind, const Access& from, const Access& to) {
    add_ordered(list, conflicts(kind, s, t, statements, from, to), order);
  };
  if (source.write.tensor == sink.write.tensor && !commute(source, sink)) {
    add(Kind::output, source.write, sink.write);
  }
  for (const Access& access : sink.reads) {
    if (access.tensor == source.write.tensor) add(Kind::flow, source.write, access);
  }
  for (const Access& access : source.reads) {
    if (access.tensor == sink.write.tensor) add(Kind::anti, access, sink.write);
  }
}

/// Is there a reduction between the statements?
std::optional<Reduction> reduction_of(size_t s, size_t t,
                                      const std::vector<Statement>& statements) {
  const Statement &a = statements[s], &b = statements[t];
  if (a.write.tensor != b.write.tensor || !commute(a, b)) return std::nullopt;
  if (s != t) return Reduction{s, t, {}};
  return Reduction{s, t, poly::determined(a.domain, a.write.at)};
}

}  // namespace

const char* name_of(Dependence::Kind kind) {
  switch (kind) {
    case Dependence::Kind::flow:
      return "flow";
    case Dependence::Kind::anti:
      return "anti";
    case Dependence::Kind::output:
      return "output";
    case Dependence::Kind::reduction:
      return "reduction";
  }
  return "";
}

Dependences find_dependences(const std::vector<Statement>& statements,
                             const std::vector<Order>& order) {
  Dependences result;
  for (size_t s = 0; s < statements.size(); ++s) {
    for (size_t t = 0; t < statements.size(); ++t) {
      if (may_precede(order[s], order[t])) add_between(result.ordered, s, t, statements, order);
      auto reduction = s <= t ? reduction_of(s, t, statements) : std::nullopt;
      if (reduction) result.reductions.push_back(std::move(*reduction));
    }
  }
  return result;
}

Dependence pairs_of(const Reduction& r, const std::vector<Statement>& statements) {
  return conflicts(Dependence::Kind::reduction, r.first, r.second, statements,
                   statements[r.first].write, statements[r.second].write);
}

isl::aff distance(const Dependence& dependence, const std::vector<Order>& order, size_t depth) {
  const isl::aff& source = order[dependence.source].loops[depth].value;
  const isl::aff& sink = order[dependence.sink].loops[depth].value;
  return isl::manage(isl_aff_sub(sink.pullback(dependence.sink_at).release(),
                                 source.pullback(dependence.source_at).release()));
}

}  // namespace lathe
