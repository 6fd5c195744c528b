// pass_parallel.cpp: see pass_parallel.h.
#include "passes/pass_parallel.h"

#include <map>

#include "ops/op.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// What nodes must have in common: what they read, what they are like, and whether they have a
/// bias.
std::string likeness(const Graph& graph, const Node& node) {
  std::string text = fmt::format("{} {}", node.inputs[0], node.inputs.size() > 2);
  for (const auto& [name, value] : node.attributes) text += " " + name + print_attribute(value);
  const Type& weight = graph.values[node.inputs[1]].type;
  for (size_t d = 1; d < weight.shape.size(); ++d) text += fmt::format(" {}", weight.shape[d]);
  return text + name_of(weight.element);
}

/// Can the weights of a node be put beside those of others, before anything ran?
bool is_parallel(const Graph& graph, const Node& node, const std::string& op) {
  if (node.op != op || node.inputs[0] == no_value) return false;
  if (graph.values[node.outputs[0]].type.dynamic) return false;
  if (op == "conv" && call_of(graph, node).integer("groups") != 1) return false;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == no_value || !is_known_before(graph, node.inputs[i])) return false;
  }
  return true;
}

void combine(Rewrite& rewrite, const std::vector<size_t>& nodes) {
  const Graph& graph = rewrite.graph;
  const Node first = graph.nodes[nodes[0]];
  std::vector<ValueId> operands{first.inputs[0]};
  for (size_t i = 1; i < first.inputs.size(); ++i) {
    std::vector<ValueId> parts;
    for (size_t n : nodes) parts.push_back(graph.nodes[n].inputs[i]);
    operands.push_back(rewrite.call_before(nodes[0], "concat", parts, {{"axis", 0L}},
                                           graph.values[parts[0]].name + ".all"));
  }
  ValueId all =
      rewrite.call_before(nodes[0], first.op, operands, first.attributes, first.name + ".all");
  long from = 0;
  for (size_t n : nodes) {
    const Shape sizes = graph.values[graph.nodes[n].outputs[0]].type.shape;
    Shape starts(sizes.size(), 0);
    starts[1] = from;
    from += sizes[1];
    rewrite.become(n, "slice", {all}, {{"starts", starts}, {"sizes", sizes}});
  }
}

}  // namespace

Graph with_parallel_combined(const Graph& graph, const std::string& op) {
  std::map<std::string, std::vector<size_t>> alike;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!is_parallel(graph, graph.nodes[n], op)) continue;
    alike[likeness(graph, graph.nodes[n])].push_back(n);
  }
  Rewrite rewrite(graph);
  for (const auto& [like, nodes] : alike) {
    if (nodes.size() > 1) combine(rewrite, nodes);
  }
  return rewrite.finish();
}

}  // namespace lathe::passes
