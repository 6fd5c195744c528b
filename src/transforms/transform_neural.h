// What the neural steps share: the statement that they act on, and the completions.
//
// A neural step may leave elements unwritten that the next operator still reads. Its completion
// says what fills them:
//   propagate   nothing: the tensor shrinks, and so does all that reads it
//   expand      a 1x1 convolution brings the channels back
//   deepen      batch normalisation, ReLU and a 1x1 convolution do
//   repeat      the nearest computed element, or the same one of the computed slice, is copied
// A step may also leave input channels unread. One completion is for them:
//   reduce      a 1x1 convolution, batch normalisation and ReLU make the channels that are still
//               read of all that there were
#pragma once

#include "transforms/transform_loops.h"

namespace lathe {

enum class Completion { propagate, expand, deepen, repeat, reduce };

/// Returns the names of all completions.
const std::vector<std::string>& completion_names();

/// Returns the completion of that name.
Completion completion_named(const std::string& name);

/// A statement taken out of its nest, in loops of its own, whose coordinates are these loops.
struct NeuralTarget {
  size_t index;  ///< among the nest's statements
  Statement statement;
  Order order;
  std::vector<Order> rest;  ///< the order of all statements; the target's is still the old one
};

/// Finds the statement that neural steps act on: the first one of the operator that accumulates and
/// whose outermost loop is still one, not unrolled. What a completion added is passed over.
std::optional<size_t> find_target(const Nest& nest);

/// Takes that statement out of the loops that it shares with others.
NeuralTarget take_target(const Nest& nest);

/// Takes a given statement out of the loops that it shares with others.
NeuralTarget take_statement(const Nest& nest, size_t statement);

/// Takes the statement of find_target(), if there is one and nothing forbids it.
std::optional<NeuralTarget> try_take_target(const Nest& nest);

/// Checks that neural steps may act on a loop: the batch is no part of the network.
void require_network_loop(const Loop& loop);

/// Checks that "factor" divides the loop's iterations; the error says which factors do.
void require_divisor(const Loop& loop, long factor);

/// Checks that no other statement accumulates into what the target writes. Otherwise a completion
/// would fill in wrong values.
void require_only_writer(const Nest& nest, const NeuralTarget& target);

/// Returns whether the step applies. It is tried: only that tells how far a completion reaches.
bool applies(const Nest& nest, const Step& step);

/// Does "changed", the target with fewer instances, still write every element that the target
/// wrote? So it is where loops of a sum and of positions are fused: they count each position many
/// times.
bool writes_all(const NeuralTarget& target, const Statement& changed);

/// Leaves out the instances of "fill" that would write what "changed" has computed. Only loops that
/// are fused make such ones.
Statement without_computed(Statement fill, const NeuralTarget& target, const Statement& changed);

/// Which part of a loop's range a step kept, and how the rest can be found from it.
struct Kept {
  size_t depth;  ///< of the loop, in the target before the step
  long left;     ///< how many iterations are left
  long stride;   ///< every stride-th iteration; 1: the first ones
};

/// Assembles the nest with "changed" (the target after the step) in place of the target, and
/// completes what it no longer writes. "note" is extended by what the completion did.
Nest complete(const Nest& nest, const NeuralTarget& target,
              const std::pair<Statement, Order>& changed, const Kept& kept, Completion completion,
              std::string& note);

/// Channels that are missing, or not mixed. "dimension" is their dimension in the tensor that is
/// written. A 1x1 convolution reads a new tensor instead, which is called "<tensor>.<suffix>".
struct Narrow {
  size_t dimension;
  std::string suffix;
};

/// Assembles the nest with "changed" in place of the target. It writes a tensor of its own; further
/// statements (expand or deepen) make of it the tensor that the target wrote.
Nest expanded(const Nest& nest, const NeuralTarget& target, std::pair<Statement, Order> changed,
              const Narrow& narrow, Completion completion, std::string& note);

/// Assembles the nest with "changed" in place of the target, of whose input channels loop "depth"
/// of the target counted more. It then reads a tensor of its own, and a 1x1 convolution, batch
/// normalisation and ReLU before it make that of all channels: reduce.
Nest reduced(const Nest& nest, const NeuralTarget& target, std::pair<Statement, Order> changed,
             size_t depth, std::string& note);

/// How many elements does an index of the statement reach, if it reaches the first ones?
std::optional<long> first_reached(const Statement& s, const isl::aff& index);

/// Returns the coordinate of the statement that this index is, if it is a single one.
std::optional<size_t> coordinate_of(const Statement& s, const isl::aff& index);

/// Assembles the nest with "changed" in place of the target, where every element is still written.
Nest assemble(const Nest& nest, const NeuralTarget& target,
              const std::pair<Statement, Order>& changed);

/// Statements that a completion adds.
struct Added {
  std::vector<Statement> before, after;  ///< the target, in the order in which they run
};

/// The same with new statements around the target (and more tensors that they use). They have no
/// origin: nothing of the operator as it was written became them.
Nest assemble_with(const Nest& nest, const NeuralTarget& target,
                   const std::pair<Statement, Order>& changed, std::vector<Tensor> tensors,
                   Added added);

}  // namespace lathe
