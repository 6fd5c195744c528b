// rebatch.cpp: another number of samples. Interface: rebatch.h.
#include "program/rebatch.h"

#include "base/error.h"
#include "ops/op.h"

namespace lathe {
namespace {

bool begins_with(const Shape& shape, long extent) {
  return !shape.empty() && shape.front() == extent;
}

/// Sets the number of samples where a node's own attributes say it, as reshape's does.
void set_samples(Node& node, const Graph& graph, long before, long samples) {
  if (!begins_with(graph.values[node.outputs[0]].type.shape, before)) return;
  auto shape = node.attributes.find("shape");
  if (shape == node.attributes.end()) return;
  auto* extents = std::get_if<Shape>(&shape->second);
  if (extents != nullptr && begins_with(*extents, before)) extents->front() = samples;
}

}  // namespace

Graph rebatched(Graph graph, long samples) {
  if (graph.inputs.empty() || graph.values[graph.inputs[0]].type.shape.empty()) {
    fail("'{}' has no input with samples", graph.name);
  }
  long before = graph.values[graph.inputs[0]].type.shape[0];
  if (before == samples) return graph;
  for (ValueId id : graph.inputs) {
    Shape& shape = graph.values[id].type.shape;
    if (begins_with(shape, before)) shape[0] = samples;
  }
  for (Node& node : graph.nodes) {
    set_samples(node, graph, before, samples);
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
