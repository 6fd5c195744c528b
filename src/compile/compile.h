// A network to machine code: the pipeline.
//
//   Compiled compiled = compile(graph, {.target = native_target()});
//   Runner runner(compiled, 2);
//   std::vector<Array> outputs = runner.run(inputs);
//
// A compiled network is plain data: kernels as object files, the steps that call them, and the
// weights in the order in which kernels read them. A Runner runs it in this process.
// write_library() makes a library of it.
#pragma once

#include <functional>
#include <memory>

#include "backends/backend.h"
#include "compile/node.h"
#include "graph/graph.h"
#include "passes/pass.h"
#include "runtime/runtime.h"
#include "schedules/schedule.h"

namespace lathe {

/// Returns how to schedule the unit of work of this key (units.h). Nothing: the templates choose.
/// Several threads call it.
using Chooser = std::function<std::optional<Choice>(const std::string& key)>;

class MadeUnits;

/// When are the data of weights given? If later, the code works for any data (CompiledWeight).
enum class WeightData { now, later };

struct CompileOptions {
  Target target;  ///< what code is made for: whoever compiles says it
  Effort effort = Effort::quick;
  bool cache = true;  ///< keep object files, and use those of earlier runs
  /// Units that were compiled with the same options before, in this process (units.h). Null: none.
  std::shared_ptr<MadeUnits> made = nullptr;
  unsigned threads = 0;             ///< how many compile; 0: one for each core
  Chooser choose = nullptr;         ///< null: the templates choose
  LayoutChooser layouts = nullptr;  ///< null: as large blocks of channels as fit
  std::vector<std::string> passes = usual_passes();
  /// Bytes that values may take. Some values are computed again to save memory (pass_recompute.h).
  long memory = any_memory;
  WeightData weights = WeightData::now;
  /// The largest error of algebraic steps, as a multiple of the outputs' root mean square.
  double max_error = any_error;
  std::function<void(size_t, size_t)> progress = nullptr;  ///< gets the nodes done, and of how many
};

/// One call of a kernel.
struct CompiledStep {
  std::string node;    ///< of the graph after the passes
  std::string symbol;  ///< the kernel's function
  std::vector<lathe_place> places;
  long count;      ///< how many iterations workers share
  Grid grid = {};  ///< of a GPU
};

/// What became of a node.
struct CompiledNode {
  std::string name, op;
  std::string schedule, recipe;
  double flops = 0;             ///< how many products and sums it computes
  size_t first = 0, steps = 0;  ///< its first step, and how many it has
};

/// An input or output.
struct CompiledFace {
  std::string name;
  Type type;
};

/// A weight whose data are given after the network was compiled.
struct CompiledWeight {
  std::string value;  ///< its name in the graph
  Type type;
  long offset;                         ///< its place among the weights, in bytes
  std::optional<Repacking> repacking;  ///< none: its elements keep their order
};

/// Weights that belong together: so many bytes, from "offset" on.
struct WeightPiece {
  long offset, bytes;
};

struct Compiled {
  std::string name;
  Target target;
  std::set<Extra> needs;  ///< those of the target's extras that kernels use
  std::vector<std::string> objects;
  std::vector<CompiledStep> steps;
  size_t first_step = 0;  ///< steps before it run once, when the network is loaded
  std::vector<CompiledNode> nodes;
  std::vector<CompiledFace> inputs, outputs;
  std::vector<std::byte> weights;
  std::vector<WeightPiece> pieces;    ///< of the weights, in order; steps refer to where one begins
  std::vector<CompiledWeight> later;  ///< weights that must be written before the network runs
  long arena_bytes = 0, scratch_bytes = 0;
  long prepared_bytes = 0;  ///< of what the first steps make from the weights
  long live_bytes = 0;      ///< of the values that are alive at one time, at most
  /// Seconds that compiling took: the passes, and all that came after them.
  double pass_seconds = 0, kernel_seconds = 0;
};

/// Returns the bytes that a network takes where it runs: weights, values, and what workers need.
long memory_of(const Compiled& compiled, int threads);

/// Can all nodes be compiled? All shapes must be known, and every operator must have a nest.
bool is_compilable(const Graph& graph);

/// Fails if a weight or state of the graph has no data.
void check_data(const Graph& graph);

/// Compiles a graph. Every weight must have data, unless data are given later.
Compiled compile(const Graph& graph, const CompileOptions& options);

/// What the compiler makes of one node of a graph.
struct NodeListing {
  std::string schedule, recipe, nest, loops;
  std::vector<NamedCode> kernels;
};

/// Compiles one node of a graph. If there is no such node, the error lists the names that exist.
NodeListing list_node(const Graph& graph, const std::string& node, const CompileOptions& options);

/// A compiled network on a machine of this computer, which the target is for.
class Runner {
 public:
  /// Weights whose data were not given when the network was compiled come from the graph "weights".
  Runner(const Compiled& compiled, int threads);
  Runner(const Compiled& compiled, int threads, const Graph& weights);
  ~Runner();

  /// Takes the data of such weights from this graph from now on.
  void load(const Graph& weights);

  /// Returns the outputs for these inputs, both in the graph's order.
  std::vector<Array> run(const std::vector<Array>& inputs);

  /// Runs the network once on these buffers, or one step alone. This is for measuring.
  void run(const void* const* inputs, void* const* outputs);
  void run_step(size_t step);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lathe
