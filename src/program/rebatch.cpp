// rebatch.cpp: another number of samples. Interface: rebatch.h.
#include "program/rebatch.h"

#include "base/error.h"
#include "ops/op.h"

namespace lathe {
namespace {

bool begins_with(const Shape& shape, long extent) {
  return !shape.empty() && shape.front() == extent;
}

/// Is a number the product of the first extents of a shape, the first two or more?
bool is_merged(const Shape& shape, long extent) {
  long product = shape.front();
  for (size_t i = 1; i < shape.size(); ++i) {
    product *= shape[i];
    if (product == extent) return true;
  }
  return false;
}

/// Sets the number of samples where a node's own attributes say it: as the first extent of what a
/// reshape or a slice makes, alone or times what the reshape merges with it. "was" is the shape of
/// the node's operand before.
void set_samples(Node& node, const Shape& was, long before, long samples) {
  for (const char* name : {"shape", "sizes"}) {
    auto attribute = node.attributes.find(name);
    if (attribute == node.attributes.end()) continue;
    auto* extents = std::get_if<Shape>(&attribute->second);
    if (extents == nullptr || extents->empty()) continue;
    bool merges = begins_with(was, before) && is_merged(was, extents->front());
    if (begins_with(*extents, before)) {
      extents->front() = samples;
    } else if (merges) {
      extents->front() = extents->front() / before * samples;
    }
  }
}

}  // namespace

Graph rebatched(Graph graph, long samples) {
  if (graph.inputs.empty() || graph.values[graph.inputs[0]].type.shape.empty()) {
    fail("'{}' has no input with samples", graph.name);
  }
  long before = graph.values[graph.inputs[0]].type.shape[0];
  if (before == samples) return graph;
  const Graph original = graph;
  for (ValueId id : graph.inputs) {
    Shape& shape = graph.values[id].type.shape;
    if (begins_with(shape, before)) shape[0] = samples;
  }
  for (Node& node : graph.nodes) {
    ValueId operand = node.inputs.empty() ? no_value : node.inputs[0];
    // What does not grow with the samples, as a weight, keeps its shape.
    if (operand != no_value && graph.values[operand].type != original.values[operand].type) {
      set_samples(node, original.values[operand].type.shape, before, samples);
    }
    try {
      std::vector<Type> types = infer(call_of(graph, node));
      for (size_t i = 0; i < types.size(); ++i) graph.values[node.outputs[i]].type = types[i];
    } catch (const UserError& error) {
      fail("'{}' is made for {} sample{} at a time, and cannot be for {}: node '{}': {}",
           graph.name, before, before == 1 ? "" : "s", samples, node.name, error.what());
    }
  }
  for (ValueId id : graph.outputs) {
    if (begins_with(graph.values[id].type.shape, samples)) continue;
    fail("'{}' is made for {} sample{} at a time: its output '{}' does not grow with them",
         graph.name, before, before == 1 ? "" : "s", graph.values[id].name);
  }
  return graph;
}

}  // namespace lathe
