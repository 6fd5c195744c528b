// execute.cpp: runs a graph node by node. Interface: execute.h.
#include "program/execute.h"

#include "base/error.h"
#include "ops/op_evaluate.h"
#include "poly/isl.h"

namespace lathe {
namespace {

/// What a node needs to run again on operands of the same types.
struct Prepared {
  std::vector<Type> operands;
  Nest nest;
  std::vector<Type> outputs;
};

/// Returns for each node the values that no later one reads.
std::vector<std::vector<ValueId>> last_uses(const Graph& graph) {
  std::vector<bool> needed_later(graph.values.size(), false);
  for (ValueId id : graph.outputs) needed_later[id] = true;
  std::vector<std::vector<ValueId>> result(graph.nodes.size());
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    auto look_at = [&](const std::vector<ValueId>& ids) {
      for (ValueId id : ids) {
        if (id == no_value || needed_later[id]) continue;
        needed_later[id] = true;
        result[n].push_back(id);
      }
    };
    look_at(graph.nodes[n].inputs);
    look_at(graph.nodes[n].outputs);
  }
  return result;
}

void check_input(const Value& value, const Array& array) {
  Type type{array.element(), array.shape()};
  if (type == value.type) return;
  fail("input '{}' is {}, but was given {}", value.name, print_type(value.type), print_type(type));
}

}  // namespace

struct Executor::State {
  Graph graph;
  Context context;
  std::vector<std::vector<ValueId>> last;
  std::vector<std::optional<Prepared>> prepared;
  std::map<std::string, Nest> nests;  // of equal calls

  explicit State(const Graph& g) : graph(g), last(last_uses(g)), prepared(g.nodes.size()) {}

  /// Returns the call of a node on the operands that are there, with their real types.
  Call call_on(const Node& node, const std::vector<Array>& operands) const {
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
    return Call(*find_op(node.op), std::move(given), node.attributes);
  }

  static std::vector<Type> types_of(const std::vector<Array>& arrays) {
    std::vector<Type> types;
    for (const Array& array : arrays) types.push_back({array.element(), array.shape()});
    return types;
  }

  std::optional<Nest> nest_for(const Call& call) {
    std::string key = print(call);
    auto found = nests.find(key);
    if (found != nests.end()) return found->second;
    auto nest = executable(context, call);
    if (nest) nests.emplace(key, *nest);
    return nest;
  }

  std::vector<Array> run_node(size_t n, const std::vector<Array>& operands) {
    const Node& node = graph.nodes[n];
    std::vector<Type> types = types_of(operands);
    if (prepared[n] && prepared[n]->operands == types) {
      return run_nest(prepared[n]->nest, operands, prepared[n]->outputs);
    }
    Call call = call_on(node, operands);
    std::vector<Type> outputs = infer(call);
    auto nest = nest_for(call);
    if (!nest) return evaluate(context, call, operands);
    prepared[n] = Prepared{types, *nest, outputs};
    return run_nest(*nest, operands, outputs);
  }
};

Executor::Executor(const Graph& graph) {
  verify(graph);
  for (const Value& value : graph.values) {
    bool given = value.kind == Value::Kind::weight || value.kind == Value::Kind::state;
    if (given && !value.data) {
      fail(
          "graph '{}': weight '{}' has no data and no way to begin; text keeps none: give it one, "
          "as in \"= normal(0.1)\", or use an .onnx file",
          graph.name, value.name);
    }
  }
  state_ = std::make_unique<State>(graph);
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
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_input(graph.values[graph.inputs[i]], inputs[i]);
    values[graph.inputs[i]] = inputs[i];
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    std::vector<Array> operands;
    for (ValueId id : node.inputs) {
      if (id == no_value) continue;
      operands.push_back(values[id] ? *values[id] : *graph.values[id].data);
    }
    std::vector<Array> results;
    try {
      results = state_->run_node(n, operands);
    } catch (const UserError& error) {
      fail("node '{}': {}", node.name, error.what());
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) values[node.outputs[i]] = results.at(i);
    for (ValueId id : state_->last[n]) values[id].reset();
    if (progress) progress(n + 1, graph.nodes.size());
  }
  std::vector<Array> outputs;
  for (ValueId id : graph.outputs) {
    outputs.push_back(values[id] ? *values[id] : *graph.values[id].data);
  }
  return outputs;
}

}  // namespace lathe
