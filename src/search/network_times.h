// Measures whole compiled networks in turn: how long each takes, and each of its nodes.
#pragma once

#include "compile/compile.h"
#include "search/measure.h"

namespace lathe {

/// The time of a node that runs between its neighbours.
struct NodeTime {
  std::string node;
  double seconds;
};

/// A compiled network that runs in this process, on inputs of zeros. "compiled" must outlive it.
class TimedNetwork {
 public:
  TimedNetwork(const Compiled& compiled, int threads);

  /// Runs the network once.
  void run() { runner_.run(from_.data(), to_.data()); }
  /// Runs the nodes one by one and notes the time of each.
  void run_nodes();
  /// Returns the typical time of each node, in order.
  std::vector<NodeTime> node_times() const;
  /// Returns all times of each node, in order.
  const std::vector<Times>& all_node_times() const { return times_; }
  /// Runs on inputs of ones: are all outputs of floating point finite?
  bool is_finite();

 private:
  const Compiled& compiled_;
  Runner runner_;
  std::vector<std::vector<std::byte>> inputs_, outputs_;
  std::vector<const void*> from_;
  std::vector<void*> to_;
  std::vector<Times> times_;  ///< of the nodes
};

/// Returns the typical time of each network, in seconds.
std::vector<double> times_of_networks(const std::vector<Compiled>& networks, int threads);

/// Returns the typical time of each node of each network; a node runs between its neighbours. The
/// networks must have the same nodes.
std::vector<std::map<std::string, double>> times_of_nodes(const std::vector<Compiled>& networks,
                                                          int threads);

}  // namespace lathe
