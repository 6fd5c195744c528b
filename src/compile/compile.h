// A network to machine code: the pipeline.
//
//   Compiled compiled = compile(graph, {.target = native_target()});
//   Runner runner(compiled, 2);
//   std::vector<Array> outputs = runner.run(inputs);
//
// What is compiled is plain data: kernels as object files, the steps that call them, the weights as
// the kernels read them. A Runner runs it in this process; write_library() makes a library of it.
#pragma once

#include <functional>
#include <memory>

#include "backends/llvm.h"
#include "compile/node.h"
#include "graph/graph.h"
#include "passes/pass_layout.h"
#include "passes/pass_recompute.h"
#include "runtime/runtime.h"
#include "schedules/schedule.h"

namespace lathe {

/// Says how a unit of work is to be scheduled, by its key (units.h): nothing leaves it to the
/// templates. Asked by several threads.
using Chooser = std::function<std::optional<Choice>(const std::string& key)>;

/// Says how the values of a graph lie, by its key (pass_layout.h): nothing leaves it to the passes.
using LayoutChooser = std::function<std::optional<LayoutChoice>(const std::string& key)>;

class MadeUnits;

/// When is the data of weights given? Later: the code holds for any (CompiledWeight).
enum class WeightData { now, later };

struct CompileOptions {
  Target target = native_target();
  Effort effort = Effort::quick;
  bool cache = true;  ///< keep object files, and use those of earlier runs
  /// What was compiled with the same options before, in this process (units.h); null: nothing.
  std::shared_ptr<MadeUnits> made = nullptr;
  unsigned threads = 0;             ///< that compile; 0: one for each core
  Chooser choose = nullptr;         ///< null: the templates choose
  LayoutChooser layouts = nullptr;  ///< null: as large blocks of channels as fit
  /// Bytes that values may take: some are computed again if that helps (pass_recompute.h).
  long memory = any_memory;
  WeightData weights = WeightData::now;
  /// The most that algebraic steps may round: a multiple of the outputs' root mean square.
  double max_error = any_error;
  std::function<void(size_t, size_t)> progress = nullptr;  ///< told how many nodes of how many
};

/// One call of a kernel.
struct CompiledStep {
  std::string node;    ///< of the graph after the passes
  std::string symbol;  ///< the kernel's function
  std::vector<lathe_place> places;
  long count;  ///< iterations that workers share
};

/// What became of a node.
struct CompiledNode {
  std::string name, op;
  std::string schedule, recipe;
  double flops = 0;             ///< products and sums
  size_t first = 0, steps = 0;  ///< among the steps
};

/// An input or output.
struct CompiledFace {
  std::string name;
  Type type;
};

/// A weight whose data were not there when the network was compiled.
struct CompiledWeight {
  std::string value;  ///< its name in the graph
  Type type;
  long offset;                         ///< among the weights
  std::optional<Repacking> repacking;  ///< none: it lies as it is
};

struct Compiled {
  std::string name;
  Target target;
  std::vector<std::string> objects;
  std::vector<CompiledStep> steps;
  size_t first_step = 0;  ///< those before it run once, when the network is loaded
  std::vector<CompiledNode> nodes;
  std::vector<CompiledFace> inputs, outputs;
  std::vector<std::byte> weights;
  std::vector<CompiledWeight> later;  ///< what is to be written there before it runs
  long arena_bytes = 0, scratch_bytes = 0;
  long prepared_bytes = 0;  ///< that the first steps make of the weights
  long live_bytes = 0;      ///< the most that is alive at one time
};

/// Can all nodes be compiled? Shapes must be known and every operator must have a nest.
bool is_compilable(const Graph& graph);

/// Fails if a weight or state of the graph has no data.
void check_data(const Graph& graph);

/// Compiles a graph. Every weight must have data, unless it is given later.
Compiled compile(const Graph& graph, const CompileOptions& options = {});

/// What the compiler makes of one node, as it is compiled with its neighbours.
struct NodeListing {
  std::string schedule, recipe, nest, loops;
  std::vector<NamedCode> kernels;
};

/// Compiles one node of a graph; fails with the names there are if there is no such node.
NodeListing list_node(const Graph& graph, const std::string& node, const CompileOptions& options);

/// A compiled network in this process.
class Runner {
 public:
  /// The network's weights were known when it was compiled, or are those of the graph.
  Runner(const Compiled& compiled, int threads);
  Runner(const Compiled& compiled, int threads, const Graph& weights);
  ~Runner();

  /// Takes the weights of this graph from now on: where they were to be given later.
  void load(const Graph& weights);

  /// Returns the outputs for these inputs, both in the graph's order.
  std::vector<Array> run(const std::vector<Array>& inputs);

  /// Runs once on these buffers, or one step alone, for measuring.
  void run(const void* const* inputs, void* const* outputs);
  void run_step(size_t step);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lathe
