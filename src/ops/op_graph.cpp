// op_graph.cpp: builds graphs. Interface: op_graph.h.
#include "ops/op_graph.h"

#include <cmath>

#include "base/error.h"

namespace lathe {

namespace {

/// Returns the name, or name_1, name_2 ..., whichever is not taken yet, and takes it.
std::string unique(const std::string& name, std::unordered_map<std::string, int>& taken) {
  auto [found, is_free] = taken.emplace(name, 1);
  if (is_free) return name;
  for (int& next = found->second;; ++next) {
    std::string result = fmt::format("{}_{}", name, next);
    if (taken.emplace(result, 1).second) return result;
  }
}

}  // namespace

GraphBuilder::GraphBuilder(Graph graph) : graph_(std::move(graph)) {
  for (const Value& value : graph_.values) value_names_.emplace(value.name, 1);
  for (const Node& node : graph_.nodes) node_names_.emplace(node.name, 1);
}

ValueId GraphBuilder::add(Value value) {
  value.name = unique(value.name, value_names_);
  graph_.values.push_back(std::move(value));
  return graph_.values.size() - 1;
}

ValueId GraphBuilder::input(const std::string& name, Type type) {
  graph_.inputs.push_back(add({name, Value::Kind::input, std::move(type)}));
  return graph_.inputs.back();
}

ValueId GraphBuilder::weight(const std::string& name, Shape shape, Initial initial,
                             Value::Kind kind) {
  return add({name, kind, {Element::f32, std::move(shape)}, std::nullopt, initial});
}

ValueId GraphBuilder::weight(const std::string& name, Array data, Value::Kind kind) {
  Type type{data.element(), data.shape()};
  return add({name, kind, std::move(type), std::move(data)});
}

ValueId GraphBuilder::constant(Array data, const std::string& name) {
  return weight(name.empty() ? "constant" : name, std::move(data), Value::Kind::constant);
}

ValueId GraphBuilder::call(std::string_view op, const std::vector<ValueId>& inputs,
                           const Attributes& attributes, const std::string& name) {
  return call_all(op, inputs, attributes, name).front();
}

std::vector<ValueId> GraphBuilder::call_all(std::string_view op, const std::vector<ValueId>& inputs,
                                            const Attributes& attributes, const std::string& name) {
  Node node{name.empty() ? std::string(op) : name, std::string(op), attributes, inputs, {}};
  while (!node.inputs.empty() && node.inputs.back() == no_value) node.inputs.pop_back();
  Call call = call_of(graph_, node);
  std::vector<Type> types = infer(call);
  node.attributes = call.attributes();
  for (size_t i = 0; i < types.size(); ++i) {
    std::string of = i == 0 ? node.name : fmt::format("{}.{}", node.name, i);
    node.outputs.push_back(add({of, Value::Kind::computed, types[i]}));
  }
  node.name = unique(node.name, node_names_);
  graph_.nodes.push_back(node);
  return node.outputs;
}

void GraphBuilder::rename(ValueId value, const std::string& name) {
  std::string& old = graph_.values[value].name;
  if (old == name) return;
  value_names_.erase(old);
  old = unique(name, value_names_);
}

Graph GraphBuilder::build() const {
  Graph graph = without_dead(graph_);
  verify(graph);
  return graph;
}

Initial he_fan_out(const Shape& shape, long groups) {
  double fan = static_cast<double>(shape[0]);
  for (size_t i = 2; i < shape.size(); ++i) fan *= static_cast<double>(shape[i]);
  return {Initial::Kind::normal, std::sqrt(2 * static_cast<double>(groups) / fan)};
}

}  // namespace lathe
