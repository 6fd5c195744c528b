// alone.cpp: see alone.h.
#include "program/alone.h"

#include <fmt/format.h>

#include <map>

#include "ops/op_graph.h"

namespace lathe {
namespace {

/// Adds what nodes read that no node of theirs computes.
ValueId added(GraphBuilder& builder, const Value& value, const std::string& name) {
  switch (value.kind) {
    case Value::Kind::input:
    case Value::Kind::computed:
      return builder.input(name, value.type);
    case Value::Kind::constant:
      return builder.constant(*value.data, name);
    case Value::Kind::weight:
    case Value::Kind::state:
      break;
  }
  return value.data ? builder.weight(name, *value.data, value.kind)
                    : builder.weight(name, value.type.shape, value.initial, value.kind);
}

}  // namespace

Graph alone(const Graph& graph, const std::vector<size_t>& nodes, AloneNames names) {
  bool own = names == AloneNames::own;
  GraphBuilder builder(own ? graph.nodes[nodes.front()].name : "alone");
  std::map<ValueId, ValueId> known;
  std::vector<ValueId> outputs;
  for (size_t n : nodes) {
    const Node& node = graph.nodes[n];
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) {
      if (id != no_value && !known.contains(id)) {
        const Value& value = graph.values[id];
        known[id] = added(builder, value, own ? value.name : fmt::format("v{}", known.size()));
      }
      inputs.push_back(id == no_value ? no_value : known[id]);
    }
    outputs = builder.call_all(node.op, inputs, node.attributes, own ? node.name : "node");
    for (size_t o = 0; o < outputs.size(); ++o) known[node.outputs[o]] = outputs[o];
  }
  for (ValueId output : outputs) builder.output(output);
  return builder.build();
}

std::optional<size_t> norm_behind(const Graph& graph,
                                  const std::vector<std::vector<size_t>>& readers,
                                  const Node& node) {
  const std::vector<size_t>& all = readers[node.outputs.front()];
  if (all.size() != 1 || graph.nodes[all.front()].op != "batch_norm") return std::nullopt;
  return all.front();
}

}  // namespace lathe
