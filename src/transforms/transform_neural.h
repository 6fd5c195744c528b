// What the neural steps share: the statement that they act on, and the completions.
//
// A neural step may leave elements unwritten that the next operator still reads. Its completion
// says what fills them:
//   propagate   nothing: the tensor shrinks, and so does all that reads it
//   expand      a 1x1 convolution brings the channels back
//   repeat      the nearest computed element, or the same one of the computed slice, is copied
#pragma once

#include "transforms/transform_loops.h"

namespace lathe {

enum class Completion { propagate, expand, repeat };

/// Returns the completion of that name.
Completion completion_named(const std::string& name);

/// A statement taken out of its nest, in loops of its own, whose coordinates are these loops.
struct NeuralTarget {
  size_t index;  ///< among the nest's statements
  Statement statement;
  Order order;
  std::vector<Order> rest;  ///< the order of all statements; the target's is still the old one
};

/// Finds the statement that neural steps act on: the first one that accumulates and whose outermost
/// loop is still one, not unrolled.
std::optional<size_t> find_target(const Nest& nest);

/// Takes that statement out of the loops that it shares with others.
NeuralTarget take_target(const Nest& nest);

/// Takes a given statement out of the loops that it shares with others.
NeuralTarget take_statement(const Nest& nest, size_t statement);

/// Takes the one of find_target() if there is such a statement and nothing forbids it.
std::optional<NeuralTarget> try_take_target(const Nest& nest);

/// Checks that neural steps may act on a loop: the batch is no part of the network.
void require_network_loop(const Loop& loop);

/// Checks that "factor" divides the loop's iterations; the error says which factors do.
void require_divisor(const Loop& loop, long factor);

/// Checks that nothing else accumulates into what the target writes: what a completion fills would
/// be wrong otherwise.
void require_only_writer(const Nest& nest, const NeuralTarget& target);

/// Does the step apply? How far a completion reaches is found by trying.
bool applies(const Nest& nest, const Step& step);

/// Which part of a loop's range a step kept, and how the rest can be found from it.
struct Kept {
  size_t depth;  ///< of the loop, in the target before the step
  long factor;   ///< 1/factor of the iterations is left
  bool strided;  ///< every factor-th iteration; otherwise the first ones
};

/// Assembles the nest with "changed" (the target after the step) in place of the target, and
/// completes what it no longer writes. "note" is extended by what the completion did.
Nest complete(const Nest& nest, const NeuralTarget& target,
              const std::pair<Statement, Order>& changed, const Kept& kept, Completion completion,
              std::string& note);

/// The same where every element is still written.
Nest assemble(const Nest& nest, const NeuralTarget& target,
              const std::pair<Statement, Order>& changed);

/// The same with a new statement that runs after the target (and more tensors that it uses).
Nest assemble_with(const Nest& nest, const NeuralTarget& target,
                   const std::pair<Statement, Order>& changed, std::vector<Tensor> tensors,
                   Statement after);

}  // namespace lathe
