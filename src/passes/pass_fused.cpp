// pass_fused.cpp: the calls of several nodes as those of one. Interface: pass_fused.h.
#include "passes/pass_fused.h"

#include <algorithm>

#include "ops/op_view.h"

namespace lathe::passes {
namespace {

using Kind = ops::Source::Kind;

/// Collects the calls of nodes, and what they refer to.
class Joining {
 public:
  explicit Joining(const Graph& graph) : graph_(graph) {}

  void add(const Node& node) {
    size_t before = results_.size();
    for (ops::TypedPart& typed : calls_of(graph_, node)) {
      ops::Part& part = typed.part;
      for (ops::Source& source : part.sources) {
        if (source.kind == Kind::operand)
          source = source_of(node.inputs[source.index]);
        else if (source.kind == Kind::result)
          source.index += before;
      }
      calls_.push_back(print(part));
      results_.push_back(no_value);  // unless it is the node's own
    }
    results_.back() = node.outputs[0];
  }

  Node joined(const std::string& name) const {
    return {name, "fused", {{"calls", calls_}}, operands_, {results_.back()}};
  }

 private:
  const Graph& graph_;
  std::vector<ValueId> operands_, results_;
  std::vector<std::string> calls_;

  /// Returns how a call refers to a value, which becomes an operand if it is none yet.
  ops::Source source_of(ValueId id) {
    auto place_in = [&](const std::vector<ValueId>& list) {
      return static_cast<size_t>(std::find(list.begin(), list.end(), id) - list.begin());
    };
    if (id == no_value) return {};
    if (size_t i = place_in(results_); i < results_.size()) return {Kind::result, i};
    size_t i = place_in(operands_);
    if (i == operands_.size()) operands_.push_back(id);
    return {Kind::operand, i};
  }
};

}  // namespace

std::vector<ops::TypedPart> calls_of(const Graph& graph, const Node& node) {
  Call call = call_of(graph, node);
  if (node.op == "fused") return ops::parts_of(call);
  ops::Part part{find_op(node.op), {}, node.attributes};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    part.sources.push_back(node.inputs[i] == no_value ? ops::Source{}
                                                      : ops::Source{Kind::operand, i});
  }
  Type result = graph.values[node.outputs[0]].type;
  return {{std::move(part), std::move(call), std::move(result)}};
}

Node fused_node(const Graph& graph, const std::vector<const Node*>& chain) {
  Joining joining(graph);
  for (const Node* node : chain) joining.add(*node);
  return joining.joined(chain.front()->name);
}

Node fused_node(const Graph& graph, const std::vector<size_t>& chain) {
  std::vector<const Node*> nodes;
  for (size_t n : chain) nodes.push_back(&graph.nodes[n]);
  return fused_node(graph, nodes);
}

ops::TypedPart first_computed(const Graph& graph, const Node& node) {
  std::vector<ops::TypedPart> calls = calls_of(graph, node);
  size_t first = 0;
  while (first + 1 < calls.size() && ops::view_of(calls[first].call)) ++first;
  ops::TypedPart part = calls[first];
  for (ops::Source& source : part.part.sources) {
    while (source.kind == Kind::result) source = calls[source.index].part.sources.front();
  }
  return part;
}

}  // namespace lathe::passes
