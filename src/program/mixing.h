// Do the channels of a network still mix?
//
//   contiguous groups in all layers of a stage     no group ever hears of another
//   the second layer reads every G-th channel      all groups meet, at the same work
//
// What an operator's accesses say (program/reach.h) decides which channels of its inputs can reach
// which channels of its outputs. Three questions are asked of that: do they meet in a stage, across
// the network, and soon, which is in two layers that follow each other?
//
// A stage is all that has the same positions (32x32, say). Its channels begin where an operator
// reads something else: the network's input, or other positions. They end where nothing of the
// stage reads them any more.
#pragma once

#include <map>
#include <memory>

#include "graph/graph.h"
#include "program/reach.h"

namespace lathe {

/// Whether the channels of a network mix, and whether they are of use.
struct Mixing {
  /// The share of pairs of channels, at the beginning and at the end of a stage, of which the one
  /// reaches the other; the mean over all stages of at least two layers. 1 if there are none.
  double connected = 1;
  /// The share of the channels that layers compute of which no output of the network depends.
  double dead = 0;
  /// The share of pairs of channels, behind the first layers and before the last ones, of which the
  /// one reaches the other. 1 if there are none.
  double across = 1;
  /// The share of pairs of channels of which the one is read by a layer, and the other is computed
  /// of that by a next layer: the mean over these, and of that the mean over all layers. A single
  /// layer that shuffles can connect a whole stage, but only here does it show that all others do
  /// not. 1 if no layer reads what another one computes.
  double neighbours = 1;
};

/// Returns what the accesses say. What an operator without a nest reads reaches all that it writes.
Mixing mixing_of(const Graph& network);

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

  /// Two layers of which the second one reads what the first one computes.
  struct Neighbours {
    size_t first, second;  ///< nodes
    double weight = 0;     ///< Mixing::neighbours is the sum of connected_by(), each times this
  };
  const std::vector<Neighbours>& neighbours() const;
  double connected_by(size_t pair, const Changes& changes) const;

  /// Return what Mixing says.
  double dead(const Changes& changes) const;
  double across(const Changes& changes) const;

 private:
  class Paths;
  std::unique_ptr<Paths> paths_;
};

}  // namespace lathe
