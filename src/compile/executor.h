// Runs any graph on arrays: compiled where it can be, node by node where shapes or reads depend on
// data.
#pragma once

#include "compile/compile.h"

namespace lathe {

struct ExecutorOptions {
  int threads = 1;
  Effort effort = Effort::quick;
  bool cache = true;
  Chooser choose = nullptr;         ///< how units are scheduled; null: the templates choose
  LayoutChooser layouts = nullptr;  ///< how values lie, as CompileOptions has it
  double max_error = any_error;     ///< of algebraic steps, as CompileOptions has it
};

/// A graph that runs more than once. Parts are compiled when they first run.
class Executor {
 public:
  /// Every weight must have data.
  explicit Executor(const Graph& graph, ExecutorOptions options = {});
  ~Executor();

  /// Returns the outputs for these inputs, both in the graph's order. "progress" is told how many
  /// parts of the work are done, of how many.
  std::vector<Array> run(const std::vector<Array>& inputs,
                         const std::function<void(size_t, size_t)>& progress = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lathe
