// pass_rewrite.cpp: graphs while passes change them. Interface: pass_rewrite.h.
#include "passes/pass_rewrite.h"

#include <algorithm>

#include "base/error.h"
#include "ops/op.h"

namespace lathe::passes {

Rewrite::Rewrite(const Graph& from)
    : graph(from),
      outputs_(from.outputs.begin(), from.outputs.end()),
      producers_(from.values.size()),
      removed_(from.nodes.size(), false) {
  for (const Value& value : graph.values) names_.insert(value.name);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId id : graph.nodes[n].outputs) producers_[id] = n;
  }
}

std::optional<size_t> Rewrite::only_for(size_t user, ValueId id) const {
  if (is_output(id) || !producers_[id]) return std::nullopt;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& inputs = graph.nodes[n].inputs;
    bool reads = !removed_[n] && std::find(inputs.begin(), inputs.end(), id) != inputs.end();
    if (reads != (n == user)) return std::nullopt;
  }
  return producers_[id];
}

ValueId Rewrite::add(Value value) {
  std::string name = value.name;
  for (int i = 1; !names_.insert(value.name).second; ++i)
    value.name = fmt::format("{}_{}", name, i);
  graph.values.push_back(std::move(value));
  producers_.emplace_back();
  return graph.values.size() - 1;
}

void Rewrite::remove(size_t node) { removed_[node] = true; }

void Rewrite::insert_after(size_t node, Node added) {
  bool inserted = inserted_.emplace(node, std::move(added)).second;
  check(inserted, "one node is inserted after another");
}

void Rewrite::insert_first(Node added) { first_.push_back(std::move(added)); }

ValueId Rewrite::call_before(size_t node, const std::string& op, const std::vector<ValueId>& inputs,
                             const Attributes& attributes, const std::string& name) {
  Node added{name, op, attributes, inputs, {}};
  std::vector<Type> types = infer(call_of(graph, added));
  check(types.size() == 1, "what passes add has one output");
  added.outputs = {add({name, Value::Kind::computed, types.front()})};
  ValueId result = added.outputs.front();
  before_[node].push_back(std::move(added));
  return result;
}

void Rewrite::become(size_t node, const std::string& op, const std::vector<ValueId>& inputs,
                     const Attributes& attributes) {
  Node& changed = graph.nodes[node];
  changed = {changed.name, op, attributes, inputs, changed.outputs};
}

void Rewrite::replace_output(size_t node, ValueId old, ValueId now) {
  auto& ids = graph.nodes[node].outputs;
  std::replace(ids.begin(), ids.end(), old, now);
  producers_[now] = node;
}

void Rewrite::replace_uses(ValueId old, ValueId now) {
  for (Node& node : graph.nodes) std::replace(node.inputs.begin(), node.inputs.end(), old, now);
}

Graph Rewrite::finish() const {
  Graph result = graph;
  result.nodes = first_;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    auto before = before_.find(n);
    if (before != before_.end()) {
      result.nodes.insert(result.nodes.end(), before->second.begin(), before->second.end());
    }
    if (!removed_[n]) result.nodes.push_back(graph.nodes[n]);
    auto added = inserted_.find(n);
    if (added != inserted_.end()) result.nodes.push_back(added->second);
  }
  std::set<std::string> names;
  for (Node& node : result.nodes) {
    std::string name = node.name;
    for (int i = 1; !names.insert(node.name).second; ++i) node.name = fmt::format("{}_{}", name, i);
  }
  result = without_dead(result);
  verify_types(result);
  return result;
}

void refine_types(Graph& graph, const Node& node) {
  auto is_dynamic = [&](ValueId id) { return graph.values[id].type.dynamic; };
  if (std::none_of(node.outputs.begin(), node.outputs.end(), is_dynamic)) return;
  std::vector<Type> types = infer(call_of(graph, node));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (is_dynamic(node.outputs[i])) graph.values[node.outputs[i]].type = types.at(i);
  }
}

bool is_known_before(const Graph& graph, ValueId id) {
  Value::Kind kind = graph.values[id].kind;
  return kind != Value::Kind::input && kind != Value::Kind::computed;
}

ValueId add_copy(Graph& graph, ValueId of, const std::string& suffix) {
  Value copy;
  copy.name = graph.values[of].name + suffix;
  while (find_value(graph, copy.name) || find_node(graph, copy.name)) copy.name += "'";
  copy.type = graph.values[of].type;
  graph.values.push_back(std::move(copy));
  return graph.values.size() - 1;
}

Node copy_node(const Graph& graph, ValueId from, ValueId to) {
  return {graph.values[to].name, "identity", {}, {from}, {to}};
}

}  // namespace lathe::passes
