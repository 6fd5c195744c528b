// training.cpp: networks as they learn. Interface: training.h.
#include "autodiff/training.h"

#include <algorithm>

#include "base/error.h"
#include "ops/op_graph.h"

namespace lathe {

Graph in_training(const Graph& graph) {
  GraphBuilder builder(graph);
  std::vector<Node> nodes;
  for (const Node& node : graph.nodes) {
    if (node.op != "batch_norm") {
      nodes.push_back(node);
      continue;
    }
    const Shape& shape = graph.values[node.inputs[0]].type.shape;
    Shape axes;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i != 1) axes.push_back(static_cast<long>(i));
    }
    Attributes over{{"axes", axes}, {"keep", 0L}};
    ValueId x = node.inputs[0];
    ValueId mean = builder.call("reduce_mean", {x}, over, node.name + ".mean");
    ValueId variance = builder.call("variance", {x, mean}, over, node.name + ".variance");
    nodes.insert(nodes.end(), builder.nodes().end() - 2, builder.nodes().end());
    Node changed = node;
    changed.inputs[3] = mean;
    changed.inputs[4] = variance;
    nodes.push_back(std::move(changed));
  }
  Graph result = builder.unfinished();
  result.nodes = std::move(nodes);
  verify_types(result);
  return result;
}

namespace {

/// Is a type that of a score for each class of each sample?
bool is_classes(const Type& type, long samples) {
  return type.shape.size() == 2 && is_float(type.element) && !type.dynamic &&
         type.shape[0] == samples;
}

/// Says why no output of a network is one of classes.
[[noreturn]] void fail_classes(const Graph& graph, long samples) {
  const Type& type = graph.values[graph.outputs[0]].type;
  if (graph.outputs.size() > 1) {
    fail("'{}' is no classifier: none of its {} outputs is [{} samples x classes]", graph.name,
         graph.outputs.size(), samples);
  }
  if (type.shape.size() != 2 || !is_float(type.element) || type.dynamic) {
    fail("'{}' is no classifier: its output is {}, not [samples x classes]", graph.name,
         print_type(type));
  }
  fail("'{}' says {} things of {} samples", graph.name, type.shape[0], samples);
}

}  // namespace

ValueId classes_of(const Graph& graph) {
  if (graph.inputs.empty() || graph.outputs.empty()) {
    fail("'{}' has {} inputs and {} outputs; a classifier has one of each, or more", graph.name,
         graph.inputs.size(), graph.outputs.size());
  }
  const Shape& first = graph.values[graph.inputs[0]].type.shape;
  long samples = first.empty() ? 1 : first[0];
  ValueId found = no_value;
  for (ValueId id : graph.outputs) {
    if (!is_classes(graph.values[id].type, samples)) continue;
    if (found != no_value) {
      fail("'{}' has two outputs that may be classes, '{}' and '{}'; a classifier has one",
           graph.name, graph.values[found].name, graph.values[id].name);
    }
    found = id;
  }
  if (found == no_value) fail_classes(graph, samples);
  return found;
}

void check_outputs_are_real(const Graph& graph) {
  const Shape& first = graph.values[graph.inputs.at(0)].type.shape;
  for (ValueId id : graph.outputs) {
    const Value& value = graph.values[id];
    const Shape& shape = value.type.shape;
    bool has_samples =
        !shape.empty() && !first.empty() && shape[0] == first[0] && !value.type.dynamic;
    if (has_samples && is_float(value.type.element)) continue;
    fail("output '{}' of '{}' is {}: a distance needs real numbers, sample by sample", value.name,
         graph.name, print_type(value.type));
  }
}

Graph with_joined_outputs(const Graph& graph) {
  check_outputs_are_real(graph);
  GraphBuilder builder(graph);
  std::vector<ValueId> flat;
  for (ValueId id : graph.outputs) {
    const Value& value = graph.values[id];
    long samples = value.type.shape[0];
    Shape shape{samples, count_of(value.type.shape) / std::max(1L, samples)};
    flat.push_back(builder.call("reshape", {id}, {{"shape", shape}}, value.name + ".flat"));
  }
  ValueId all =
      flat.size() == 1 ? flat[0] : builder.call("concat", flat, {{"axis", 1L}}, "outputs");
  Graph result = builder.unfinished();
  result.outputs = {all};
  return result;
}

Learning with_given_gradient(const Graph& graph) {
  check(!graph.inputs.empty() && graph.outputs.size() == 1, "a gradient is of one output");
  Learning result;
  result.images = graph.inputs[0];
  result.logits = graph.outputs[0];
  GraphBuilder builder(graph);
  result.labels = builder.input("labels", graph.values[result.logits].type);
  result.losses = builder.call("mul", {result.logits, result.labels}, {}, "loss");
  result.graph = builder.unfinished();
  return result;
}

Learning with_loss(const Graph& graph) {
  Learning result;
  result.images = graph.inputs.at(0);
  result.logits = classes_of(graph);
  // A probability is taken back to what the softmax was made of: its logarithm needs no detour.
  for (const Node& node : graph.nodes) {
    if (node.op == "softmax" && node.outputs[0] == result.logits) result.logits = node.inputs[0];
  }
  const Type& type = graph.values[result.logits].type;
  GraphBuilder builder(graph);
  result.labels = builder.input("labels", type);
  ValueId logarithms = builder.call("log_softmax", {result.logits}, {{"axis", 1L}}, "loss.log");
  ValueId chosen = builder.call("mul", {result.labels, logarithms}, {}, "loss.chosen");
  result.losses = builder.call("neg", {chosen}, {}, "loss");
  result.graph = builder.unfinished();
  return result;
}

}  // namespace lathe
