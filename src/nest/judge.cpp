// judge.cpp: does an order respect the dependences? Interface: judge_order() of dependence.h.
//
// Pairs are followed down the loops that source and sink share. At each loop the distance from
// source to sink is bounded: always positive, the pairs are in order and done; negative somewhere,
// a violation; zero somewhere, those pairs go on to the next loop. The distance is the constant 0
// for most loops of most dependences, which costs nothing.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "nest/barriers.h"
#include "nest/dependence.h"
#include "nest/marks.h"
#include "nest/text.h"
#include "nest/threads.h"

namespace lathe {
namespace {

std::vector<long> instance_at(const isl::multi_aff& function, const std::vector<long>& pair) {
  std::vector<long> result;
  for (const isl::aff& part : poly::parts(function)) {
    result.push_back(poly::evaluate(poly::take_apart(part), pair));
  }
  return result;
}

}  // namespace

Violation violation_of(const Dependence& d, const isl::set& pairs, Violation::How how,
                       const Loop* loop) {
  auto pair = poly::sample(pairs);
  check(pair.has_value(), "a violation has a pair");
  Violation v{how,
              d,
              std::nullopt,
              Mark::serial,
              instance_at(d.source_at, *pair),
              instance_at(d.sink_at, *pair)};
  if (loop) {
    v.loop = loop->name;
    v.mark = loop->mark;
  }
  return v;
}

namespace {

/// Follows a dependence whose source must run first.
std::optional<Violation> follow(const Dependence& d, const std::vector<Order>& order) {
  const Order& a = order[d.source];
  const Order& b = order[d.sink];
  size_t shared = shared_loops(a, b);
  isl::set pairs = d.pairs;
  isl::aff zero = poly::constant(pairs.space(), 0);
  for (size_t depth = 0;; ++depth) {
    if (a.at[depth] < b.at[depth]) return std::nullopt;
    if (a.at[depth] > b.at[depth] || depth == shared) {
      return violation_of(d, pairs, Violation::How::reversed, nullptr);
    }
    isl::aff ahead = distance(d, order, depth);
    if (poly::shows_zero(pairs, ahead)) continue;
    poly::Interval reach = poly::range(pairs, ahead);
    const Loop& loop = a.loops[depth];
    if (is_concurrent(loop.mark) && (reach.lower < 0 || reach.upper > 0)) {
      return violation_of(d, pairs.intersect(ahead.ne_set(zero)), Violation::How::concurrent,
                          &loop);
    }
    if (reach.lower > 0) return std::nullopt;
    if (reach.lower < 0) {
      return violation_of(d, pairs.intersect(ahead.lt_set(zero)), Violation::How::reversed, &loop);
    }
    if (reach.upper > 0) pairs = pairs.intersect(ahead.eq_set(zero));
  }
}

/// Do all updates of an element run in the same iteration of this loop, because it depends only on
/// coordinates that they share?
bool together(const Reduction& r, const Loop& loop) {
  for (size_t i = 0; i < r.shared.size(); ++i) {
    if (!r.shared[i] && poly::involves(loop.value, i)) return false;
  }
  return !r.shared.empty();
}

/// How many of the shared loops must be looked at? Up to the last one that may run updates of one
/// element at the same time.
size_t suspicious_loops(const Reduction& r, const std::vector<Order>& order) {
  const Order& a = order[r.first];
  size_t last = 0;
  for (size_t depth = 0; depth < shared_loops(a, order[r.second]); ++depth) {
    const Loop& loop = a.loops[depth];
    if (is_concurrent(loop.mark) && !together(r, loop)) last = depth + 1;
  }
  return last;
}

/// Follows a reduction: its pairs may run in either order, but only lanes may overlap.
std::optional<Violation> follow_reduction(const Reduction& r, const Nest& nest,
                                          std::vector<std::string>& lane_sums) {
  size_t last = suspicious_loops(r, nest.order);
  if (last == 0) return std::nullopt;
  Dependence d = pairs_of(r, nest.statements());
  isl::set pairs = d.pairs;
  isl::aff zero = poly::constant(pairs.space(), 0);
  for (size_t depth = 0; depth < last; ++depth) {
    const Loop& loop = nest.order[r.first].loops[depth];
    if (together(r, loop)) continue;
    isl::aff ahead = distance(d, nest.order, depth);
    if (poly::shows_zero(pairs, ahead)) continue;
    if (is_concurrent(loop.mark)) {
      isl::set overlapping = pairs.intersect(ahead.ne_set(zero));
      bool overlap = !overlapping.is_empty();
      if (overlap && loop.mark != Mark::vector) {
        return violation_of(d, overlapping, Violation::How::concurrent, &loop);
      }
      if (overlap) lane_sums.push_back(loop.name);
    }
    pairs = pairs.intersect(ahead.eq_set(zero));
  }
  return std::nullopt;
}

std::string print_instance(const Statement& s, const std::vector<long>& values) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < values.size(); ++i) {
    parts.push_back(fmt::format("{}={}", s.dims[i], values[i]));
  }
  return fmt::format("{}({})", s.name, fmt::join(parts, ", "));
}

/// Returns the element that both instances touch. One of them writes it.
std::string print_element(const Violation& v, const Nest& nest) {
  bool sink_writes = v.dependence.kind == Dependence::Kind::anti;
  const Statement& writer =
      nest.statements()[sink_writes ? v.dependence.sink : v.dependence.source];
  std::vector<long> element = instance_at(writer.write.at, sink_writes ? v.sink : v.source);
  return fmt::format("{}[{}]", nest.tensors()[writer.write.tensor].name, fmt::join(element, ", "));
}

}  // namespace

Judgement judge_order(const Nest& nest) {
  Judgement result;
  const Dependences& dependences = nest.meaning->dependences();
  for (const Dependence& d : dependences.ordered) {
    result.violation = follow(d, nest.order);
    if (result.violation) return result;
  }
  for (const Reduction& r : dependences.reductions) {
    result.violation = follow_reduction(r, nest, result.lane_sums);
    if (result.violation) return result;
  }
  if (find_axis(nest) != nullptr) {
    result.violation = synchronised(in_threads(nest), Copies::one).violation;
  }
  return result;
}

std::string explain(const Violation& v, const Nest& nest) {
  const std::string& tensor = nest.tensors()[v.dependence.tensor].name;
  const std::string& source = nest.statements()[v.dependence.source].name;
  const std::string& sink = nest.statements()[v.dependence.sink].name;
  std::string kind = name_of(v.dependence.kind);
  std::string what =
      fmt::format("the {} dependence of {} on {} through {}", kind, sink, source, tensor);
  if (v.how == Violation::How::concurrent && v.dependence.kind == Dependence::Kind::reduction) {
    return fmt::format(
        "{} loop '{}' would update one element of {} from several iterations at once",
        name_of(v.mark), *v.loop, tensor);
  }
  if (v.how == Violation::How::concurrent) {
    return fmt::format("{} loop '{}' carries {}", name_of(v.mark), *v.loop, what);
  }
  if (v.how == Violation::How::hidden) {
    return fmt::format("{} is in private memory, but {} crosses threads ({})", tensor, what,
                       *v.loop);
  }
  if (v.how == Violation::How::apart && is_block(v.mark)) {
    return fmt::format("{} crosses blocks ({}), which nothing orders", what, *v.loop);
  }
  if (v.how == Violation::How::apart) {
    return fmt::format("{} crosses threads ({}), and no barrier can stand between the two", what,
                       *v.loop);
  }
  if (v.loop) return fmt::format("loop '{}' would reverse {}", *v.loop, what);
  return fmt::format("the sequence of statements would reverse {}", what);
}

std::string witness(const Violation& v, const Nest& nest) {
  std::string source = print_instance(nest.statements()[v.dependence.source], v.source);
  std::string sink = print_instance(nest.statements()[v.dependence.sink], v.sink);
  const char* must =
      v.dependence.kind == Dependence::Kind::reduction ? "must not overlap" : "must run before";
  return fmt::format("{} {} {}: both touch {}", source, must, sink, print_element(v, nest));
}

}  // namespace lathe
