// Do the channels of a network still mix?
//
//   contiguous groups in all layers of a stage     no group ever hears of another
//   the second layer reads every G-th channel      all groups meet, at the same work
//
// What an operator's accesses say decides which channels of its inputs can reach which channels of
// its outputs. A stage is all that has the same positions (32x32, say). Its channels begin where an
// operator reads something else: the network's input, or other positions. They end where nothing of
// the stage reads them any more.
#pragma once

#include <map>
#include <memory>

#include "base/bits.h"
#include "graph/graph.h"
#include "nest/nest.h"

namespace lathe {

/// Whether the channels of a network mix, and whether they are of use.
struct Mixing {
  /// The share of pairs of channels, at the beginning and at the end of a stage, of which the one
  /// reaches the other; the mean over all stages of at least two layers. 1 if there are none.
  double connected = 1;
  /// The share of the channels that layers compute of which no output of the network depends.
  double dead = 0;
};

/// Returns what the accesses say. What an operator without a nest reads reaches all that it writes.
Mixing mixing_of(const Graph& network);

/// Returns which channels (rows) of an output of a nest are reached by which channels (columns) of
/// an input. Both are given by their places: among the outputs, and among the inputs and weights.
/// Channels are counted by dimension 1 of a tensor; one of fewer dimensions is a single channel.
BitMatrix reached(const Nest& nest, size_t input, size_t output = 0);

/// A network whose layers are changed again and again, to see how its channels mix.
///
///   NetworkMixing mixing(network);
///   mixing.with({{node, &relation}})       as if that layer connected its channels so
class NetworkMixing {
 public:
  explicit NetworkMixing(const Graph& network);
  ~NetworkMixing();
  NetworkMixing(NetworkMixing&&) noexcept;

  /// What reaches what between the first input and the first output of nodes, given by their
  /// numbers. Channels must be as many as the nodes have.
  using Changes = std::map<size_t, const BitMatrix*>;
  Mixing with(const Changes& changes) const;

  /// Mixing::connected is the mean of connected_in() over all of so many stages, and 1 if there are
  /// none. What is known of a stage stays true while nothing inside of it changes.
  size_t stages() const;
  bool is_inside(size_t stage, size_t node) const;
  double connected_in(size_t stage, const Changes& changes) const;
  /// Returns Mixing::dead.
  double dead(const Changes& changes) const;

 private:
  class Paths;
  std::unique_ptr<Paths> paths_;
};

}  // namespace lathe
