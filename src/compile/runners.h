// Networks that are compiled once and run with one draw of their weights after the other.
//
//   Runners runners({.target = native_target()}, 2);
//   runners.of(initialised(graph, 1)).run(inputs);
//   runners.of(initialised(graph, 2)).run(inputs);   // nothing is compiled: other weights are
//   loaded
#pragma once

#include <map>

#include "compile/compile.h"

namespace lathe {

/// Compiled networks, by what they compute from their inputs and weights. For one thread.
class Runners {
 public:
  /// Networks run with so many threads.
  Runners(CompileOptions options, int threads);

  /// Returns the graph's network with the graph's weights, until it is asked for again.
  Runner& of(const Graph& graph);

 private:
  CompileOptions options_;
  int threads_;
  std::map<std::string, std::unique_ptr<Runner>> known_;
};

}  // namespace lathe
