// random_inputs.cpp: inputs that are drawn at random. Interface: random_inputs.h.
#include "program/random_inputs.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/random.h"
#include "ops/op.h"

namespace lathe {
namespace {

constexpr long any_byte = 256;
constexpr long unlimited = std::numeric_limits<long>::max();

/// Does the node hand on the whole numbers that it reads, all or some of them, in whatever shape?
bool hands_on(const Node& node) {
  static constexpr std::array names = {"cast",    "concat", "expand",  "flatten",   "identity",
                                       "reshape", "slice",  "squeeze", "transpose", "unsqueeze"};
  return std::find(names.begin(), names.end(), node.op) != names.end();
}

/// Returns the least extent that a node's second operand is an index of; of one_hot, the first is.
long extent_indexed_by(const Call& call, size_t operand) {
  const std::string& op = call.name();
  if (op == "one_hot") return operand == 0 ? call.integer("depth") : unlimited;
  if (operand != 1) return unlimited;
  const Shape& shape = call.shape(0);
  if (op == "gather" || op == "gather_elements" || op == "scatter_elements") {
    return shape[call.axis("axis", shape.size())];
  }
  if (op != "gather_nd" && op != "scatter_nd") return unlimited;
  // A tuple has an index for each of so many extents.
  long first = op == "gather_nd" ? call.integer("batch_dims") : 0, tuple = call.shape(1).back();
  auto begin = shape.begin() + first;
  return tuple == 0 ? unlimited : *std::min_element(begin, begin + tuple);
}

/// Returns the least extent that a value is an index of, here or behind nodes that hand it on.
long extent_indexed(const Graph& graph, ValueId value) {
  long least = unlimited;
  for (const Node& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != value) continue;
      least = std::min(least, hands_on(node) ? extent_indexed(graph, node.outputs[0])
                                             : extent_indexed_by(call_of(graph, node), i));
    }
  }
  return least;
}

}  // namespace

long below_of(const Graph& graph, ValueId input) {
  long extent = extent_indexed(graph, input);
  if (extent != unlimited) return std::max(1L, extent);
  return graph.values[input].type.element == Element::u8 ? any_byte : any_whole;
}

Array random_array(const Type& type, long below, uint64_t seed, const std::string& name) {
  Random random(seed, name);
  std::vector<double> values(static_cast<size_t>(count_of(type.shape)));
  for (double& x : values) {
    x = is_float(type.element) ? random.normal()
                               : static_cast<double>(random.below(static_cast<uint64_t>(below)));
  }
  return Array::of_reals(type.element, type.shape, values);
}

std::vector<Array> random_inputs(const Graph& graph, uint64_t seed) {
  std::vector<Array> inputs;
  for (ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    inputs.push_back(random_array(value.type, below_of(graph, id), seed, value.name));
  }
  return inputs;
}

}  // namespace lathe
