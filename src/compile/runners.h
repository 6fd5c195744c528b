// Networks that are compiled once and run with several draws of their weights.
//
//   Runners runners({.target = native_target()}, 2);
//   runners.of(initialised(graph, 1)).run(inputs);
//   runners.of(initialised(graph, 2)).run(inputs);   // nothing is compiled: other weights are
//   loaded
#pragma once

#include <map>

#include "compile/compile.h"

namespace lathe {

/// Compiled networks. Graphs that differ only in the data of weights share one. It is for one
/// thread.
class Runners {
 public:
  /// Networks run with "threads" threads.
  Runners(CompileOptions options, int threads);

  /// Returns the network of a graph, with the weights of the graph. They stay until a graph of the
  /// same network is asked for.
  Runner& of(const Graph& graph);

 private:
  CompileOptions options_;
  int threads_;
  std::map<std::string, std::unique_ptr<Runner>> known_;
};

}  // namespace lathe
