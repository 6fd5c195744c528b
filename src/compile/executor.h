// Runs any graph on arrays. Parts whose shapes or reads depend on data run node by node; the other
// parts are compiled.
#pragma once

#include "compile/compile.h"

namespace lathe {

struct ExecutorOptions {
  Target target;  ///< a machine of this computer
  int threads = 1;
  Effort effort = Effort::quick;
  bool cache = true;
  Chooser choose = nullptr;         ///< as in CompileOptions
  LayoutChooser layouts = nullptr;  ///< as in CompileOptions
  double max_error = any_error;     ///< as in CompileOptions
  std::vector<std::string> passes = usual_passes();
};

/// A graph that runs more than once. Parts are compiled when they first run.
class Executor {
 public:
  /// Every weight must have data.
  Executor(const Graph& graph, ExecutorOptions options);
  ~Executor();

  /// Returns the outputs for these inputs, both in the graph's order. "progress" gets how many
  /// parts of the work are done, and how many there are.
  std::vector<Array> run(const std::vector<Array>& inputs,
                         const std::function<void(size_t, size_t)>& progress = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lathe
