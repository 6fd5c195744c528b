// executor.cpp: any graph on arrays. Interface: executor.h.
//
// The nodes are cut into runs of those that can be compiled and single ones that cannot. Each run
// is a graph of its own; where the shapes that reach it are known only when the network runs, it is
// compiled then, and kept for the next time that they are the same.
#include "compile/executor.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "ops/op.h"

namespace lathe {
namespace {

/// Returns how many workers so many threads are: 0 is one for each processor.
int workers_for(int threads) {
  if (threads == 0) threads = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, threads);
}

/// Consecutive nodes: several that are compiled together, or one that runs by itself.
struct Segment {
  std::vector<size_t> nodes;
  bool compiled;
  std::vector<ValueId> inputs, outputs;  // values that cross its border
};

/// Could the node be compiled if its operands' shapes were known?
bool can_be_compiled(const Node& node) {
  const Op* op = find_op(node.op);
  return op->graph.nest != nullptr && op->graph.run == nullptr;
}

std::vector<Segment> segments_of(const Graph& graph) {
  std::vector<Segment> segments;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    bool dynamic =
        std::any_of(graph.nodes[n].outputs.begin(), graph.nodes[n].outputs.end(), [&](ValueId id) {
          const Type& type = graph.values[id].type;
          return type.dynamic || count_of(type.shape) == 0;
        });
    dynamic =
        dynamic ||
        std::any_of(graph.nodes[n].inputs.begin(), graph.nodes[n].inputs.end(), [&](ValueId id) {
          return id != no_value &&
                 (graph.values[id].type.dynamic || count_of(graph.values[id].type.shape) == 0);
        });
    bool compiled = can_be_compiled(graph.nodes[n]) && !dynamic;
    if (segments.empty() || !compiled || !segments.back().compiled) {
      segments.push_back({{}, compiled, {}, {}});
    }
    segments.back().nodes.push_back(n);
  }
  return segments;
}

/// Finds what each segment reads from others, and what others read from it.
void find_borders(const Graph& graph, std::vector<Segment>& segments) {
  std::vector<size_t> made_in(graph.values.size(), segments.size());
  for (size_t s = 0; s < segments.size(); ++s) {
    for (size_t n : segments[s].nodes) {
      for (ValueId id : graph.nodes[n].outputs) made_in[id] = s;
    }
  }
  auto add = [](std::vector<ValueId>& list, ValueId id) {
    if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
  };
  for (size_t s = 0; s < segments.size(); ++s) {
    for (size_t n : segments[s].nodes) {
      for (ValueId id : graph.nodes[n].inputs) {
        if (id == no_value || made_in[id] == s) continue;
        bool given = graph.values[id].kind == Value::Kind::input ||
                     graph.values[id].kind == Value::Kind::computed;
        if (given) add(segments[s].inputs, id);
        if (made_in[id] < segments.size()) add(segments[made_in[id]].outputs, id);
      }
    }
  }
  for (ValueId id : graph.outputs) {
    if (made_in[id] < segments.size()) add(segments[made_in[id]].outputs, id);
  }
}

/// Returns the segment as a graph.
Graph graph_of(const Graph& graph, const Segment& segment) {
  Graph part;
  part.name = graph.name;
  part.values = graph.values;
  for (size_t n : segment.nodes) part.nodes.push_back(graph.nodes[n]);
  for (ValueId id : segment.inputs) part.values[id].kind = Value::Kind::input;
  part.inputs = segment.inputs;
  part.outputs = segment.outputs;
  return without_dead(part);
}

std::vector<Type> types_of(const std::vector<Array>& arrays) {
  std::vector<Type> types;
  for (const Array& array : arrays) types.push_back({array.element(), array.shape()});
  return types;
}

}  // namespace

struct Executor::State {
  Graph graph;
  ExecutorOptions options;
  Context context;
  std::vector<Segment> segments;
  std::vector<std::unique_ptr<Runner>> runners;            // of compiled segments
  std::map<std::string, std::unique_ptr<Runner>> singles;  // of nodes, by call
  std::vector<std::vector<ValueId>> last;                  // values that no later segment reads

  explicit State(const Graph& g, ExecutorOptions o) : graph(g), options(std::move(o)) {
    segments = segments_of(graph);
    find_borders(graph, segments);
    runners.resize(segments.size());
    last.resize(segments.size());
    std::vector<bool> needed(graph.values.size(), false);
    for (ValueId id : graph.outputs) needed[id] = true;
    for (size_t s = segments.size(); s-- > 0;) {
      for (ValueId id : segments[s].inputs) {
        if (!needed[id]) last[s].push_back(id);
        needed[id] = true;
      }
    }
  }

  std::unique_ptr<Runner> runner_of(const Graph& part) const {
    CompileOptions compile_options;
    compile_options.target = options.target;
    compile_options.effort = options.effort;
    compile_options.cache = options.cache;
    compile_options.target.workers = workers_for(options.threads);
    compile_options.choose = options.choose;
    compile_options.layouts = options.layouts;
    compile_options.passes = options.passes;
    compile_options.max_error = options.max_error;
    return std::make_unique<Runner>(compile(part, compile_options), options.threads);
  }

  std::vector<Array> run_compiled(size_t s, const std::vector<Array>& inputs) {
    if (!runners[s]) runners[s] = runner_of(graph_of(graph, segments[s]));
    return runners[s]->run(inputs);
  }

  /// Runs one node on operands whose types are known by now.
  std::vector<Array> run_single(const Node& node, const std::vector<Array>& operands) {
    std::vector<std::optional<Operand>> given;
    size_t next = 0;
    for (ValueId id : node.inputs) {
      if (id == no_value) {
        given.emplace_back();
        continue;
      }
      const Array& array = operands[next++];
      bool weight = graph.values[id].kind == Value::Kind::weight;
      given.push_back(Operand{{array.element(), array.shape()}, weight});
    }
    Call call(*find_op(node.op), std::move(given), node.attributes);
    if (!can_be_compiled(node) || !has_nest(call)) return evaluate(context, call, operands);
    auto [at, is_new] = singles.try_emplace(print(call));
    if (is_new) at->second = runner_of(graph_of_call(node, operands, infer(call)));
    return at->second->run(operands);
  }

  /// Returns a graph of the one node, all of whose operands are inputs.
  static Graph graph_of_call(const Node& node, const std::vector<Array>& operands,
                             const std::vector<Type>& outputs) {
    Graph part;
    part.name = node.op;
    Node copy = node;
    size_t next = 0;
    for (ValueId& id : copy.inputs) {
      if (id == no_value) continue;
      const Array& array = operands[next];
      id = part.values.size();
      part.inputs.push_back(id);
      part.values.push_back(
          {fmt::format("x{}", next++), Value::Kind::input, {array.element(), array.shape()}});
    }
    for (size_t i = 0; i < copy.outputs.size(); ++i) {
      copy.outputs[i] = part.values.size();
      part.outputs.push_back(copy.outputs[i]);
      part.values.push_back({fmt::format("y{}", i), Value::Kind::computed, outputs.at(i)});
    }
    part.nodes.push_back(std::move(copy));
    return part;
  }
};

Executor::Executor(const Graph& graph, ExecutorOptions options) {
  verify(graph);
  check_data(graph);
  state_ = std::make_unique<State>(graph, std::move(options));
}

Executor::~Executor() = default;

std::vector<Array> Executor::run(const std::vector<Array>& inputs,
                                 const std::function<void(size_t, size_t)>& progress) {
  const Graph& graph = state_->graph;
  if (inputs.size() != graph.inputs.size()) {
    fail("graph '{}' has {} inputs, but {} were given", graph.name, graph.inputs.size(),
         inputs.size());
  }
  std::vector<std::optional<Array>> values(graph.values.size());
  std::vector<Type> types = types_of(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.values[graph.inputs[i]];
    if (types[i] != value.type) {
      fail("input '{}' is {}, but was given {}", value.name, print_type(value.type),
           print_type(types[i]));
    }
    values[graph.inputs[i]] = inputs[i];
  }
  auto value_of = [&](ValueId id) { return values[id] ? *values[id] : *graph.values[id].data; };
  const auto& segments = state_->segments;
  for (size_t s = 0; s < segments.size(); ++s) {
    const Node& node = graph.nodes[segments[s].nodes.front()];
    std::vector<Array> given, made;
    const std::vector<ValueId>* to = nullptr;
    try {
      if (segments[s].compiled) {
        for (ValueId id : segments[s].inputs) given.push_back(value_of(id));
        made = state_->run_compiled(s, given);
        to = &segments[s].outputs;
      } else {
        for (ValueId id : node.inputs) {
          if (id != no_value) given.push_back(value_of(id));
        }
        made = state_->run_single(node, given);
        to = &node.outputs;
      }
    } catch (const UserError& error) {
      if (segments[s].nodes.size() > 1) throw;
      fail("node '{}': {}", node.name, error.what());
    }
    for (size_t i = 0; i < to->size(); ++i) values[(*to)[i]] = made.at(i);
    for (ValueId id : state_->last[s]) values[id].reset();
    if (progress) progress(s + 1, segments.size());
  }
  std::vector<Array> outputs;
  for (ValueId id : graph.outputs) outputs.push_back(value_of(id));
  return outputs;
}

}  // namespace lathe
