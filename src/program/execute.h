// Runs a graph on arrays, node by node: plain, and right before it is fast.
#pragma once

#include <map>
#include <memory>

#include "ops/op.h"

namespace lathe {

/// A graph prepared to run more than once. Nests are made when a node first runs.
class Executor {
 public:
  /// Every weight must have data.
  explicit Executor(const Graph& graph);
  ~Executor();

  /// Returns the outputs for these inputs, both in the graph's order. "progress" is told how many
  /// nodes of how many have run.
  std::vector<Array> run(const std::vector<Array>& inputs,
                         const std::function<void(size_t, size_t)>& progress = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lathe
