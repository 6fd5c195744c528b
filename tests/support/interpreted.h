// The oracle of compiled networks: a graph interpreted node by node as it was given, without
// passes. Slow: for small networks.
#pragma once

#include <optional>
#include <vector>

#include "ops/op.h"
#include "poly/isl.h"

namespace lathe::test {

/// Returns the outputs of a graph for these inputs, both in the graph's order.
inline std::vector<Array> interpreted(const Graph& graph, const std::vector<Array>& inputs) {
  Context context;
  std::vector<std::optional<Array>> values(graph.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs[i]] = inputs[i];
  auto value_of = [&](ValueId id) { return values[id] ? *values[id] : *graph.values[id].data; };
  for (const Node& node : graph.nodes) {
    std::vector<Array> operands;
    for (ValueId id : node.inputs) {
      if (id != no_value) operands.push_back(value_of(id));
    }
    std::vector<Array> results = evaluate(context, call_of(graph, node), operands);
    for (size_t i = 0; i < results.size(); ++i) values[node.outputs[i]] = results[i];
  }
  std::vector<Array> outputs;
  for (ValueId id : graph.outputs) outputs.push_back(value_of(id));
  return outputs;
}

}  // namespace lathe::test
