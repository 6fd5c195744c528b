// layer_alone.cpp: see layer_alone.h.
#include "capacity/layer_alone.h"

#include <map>

#include "ops/op_graph.h"

namespace lathe {

Graph layer_alone(const Graph& graph, size_t layer, std::optional<size_t> norm) {
  GraphBuilder builder(graph.nodes[layer].name);
  std::map<ValueId, ValueId> known;
  auto copy = [&](const Node& node) {
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) {
      if (id != no_value && !known.contains(id)) {
        const Value& value = graph.values[id];
        bool given = value.kind == Value::Kind::weight || value.kind == Value::Kind::state ||
                     value.kind == Value::Kind::constant;
        known[id] = !given ? builder.input(value.name, value.type)
                    : value.data
                        ? builder.weight(value.name, *value.data, value.kind)
                        : builder.weight(value.name, value.type.shape, value.initial, value.kind);
      }
      inputs.push_back(id == no_value ? no_value : known[id]);
    }
    ValueId result = builder.call(node.op, inputs, node.attributes, node.name);
    known[node.outputs[0]] = result;
    return result;
  };
  ValueId result = copy(graph.nodes[layer]);
  if (norm) result = copy(graph.nodes[*norm]);
  builder.output(result);
  return builder.build();
}

}  // namespace lathe
