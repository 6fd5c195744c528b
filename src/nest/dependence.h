// Dependences: which instances touch the same element, so that their order matters.
//
//   for i < 9:  A[i + 1] = A[i]      flow  S[i] -> S[i + 1],  0 <= i < 8
//
// Updates of one element by "+=" or "max=" commute with each other: such a pair is a reduction. It
// may run in either order (a floating-point sum is re-associated then), but not at the same time.
#pragma once

#include "nest/nest.h"

namespace lathe {

struct Dependence {
  enum class Kind {
    flow,       ///< the source writes what the sink reads
    anti,       ///< the source reads what the sink overwrites
    output,     ///< both write
    reduction,  ///< both update, in either order
  };
  Kind kind;
  size_t tensor;
  size_t source, sink;  ///< statements
  /// The pairs of instances: each element of "pairs" is one, and the functions tell which. Where
  /// the sink determines the source, "pairs" are simply the sinks; otherwise, where the source
  /// determines the sink, the sources.
  isl::set pairs;
  isl::multi_aff source_at, sink_at;
};

/// Two statements (or one) that update the same tensor in the same way. Their pairs are found only
/// when they matter, which is seldom: only where a concurrent loop runs over the reduction.
struct Reduction {
  size_t first, second;
  /// If both are one statement: which coordinates all updates of an element share.
  std::vector<bool> shared;
};

/// All that restricts the order of a meaning's instances.
struct Dependences {
  std::vector<Dependence> ordered;
  std::vector<Reduction> reductions;
};

/// Names a kind: "flow", "anti", "output", "reduction".
const char* name_of(Dependence::Kind kind);

/// Finds all dependences of statements that run in "order".
Dependences find_dependences(const std::vector<Statement>& statements,
                             const std::vector<Order>& order);

/// Returns the pairs of a reduction as a dependence.
Dependence pairs_of(const Reduction& reduction, const std::vector<Statement>& statements);

/// A pair of instances that an order does not keep apart as it must.
struct Violation {
  enum class How {
    reversed,    ///< the sink would run first
    concurrent,  ///< both would run at the same time
    apart,       ///< in different blocks, or in different threads with no barrier between them
    hidden,      ///< in different threads, but the memory is private
  };
  How how;
  Dependence dependence;
  std::optional<std::string> loop;  ///< the loop that does it; none: the sequence of statements
  Mark mark;                        ///< of that loop
  std::vector<long> source, sink;   ///< instances
};

/// What judging an order found out.
struct Judgement {
  std::optional<Violation> violation;
  std::vector<std::string> lane_sums;  ///< vector loops whose lanes update the same element
};

/// Judges the order of "nest" by its dependences: every source must run before its sink, and not at
/// the same time. Where loops are bound to blocks and threads, a barrier must be able to stand
/// between the two (barriers.h). Lanes may update the same element: their sum (or maximum) is taken
/// at the end, which only re-associates it. Threads may not: they have no accumulators of their
/// own.
Judgement judge_order(const Nest& nest);

/// Returns the violation of a dependence, with one of these pairs as the evidence. There is one.
Violation violation_of(const Dependence& dependence, const isl::set& pairs, Violation::How how,
                       const Loop* loop);

/// Says in one line each what is violated and by which pair of instances.
std::string explain(const Violation& violation, const Nest& nest);
std::string witness(const Violation& violation, const Nest& nest);

/// Returns by how many iterations of loop "depth" the sink follows the source, as a function of the
/// pair. Both statements share that loop.
isl::aff distance(const Dependence& dependence, const std::vector<Order>& order, size_t depth);

}  // namespace lathe
