// batching_ops.cpp: computes products of one matrix with several others as one product of a batch.
//
//   y = matmul(x, v);  z = matmul(x, w)      =>      b = matmul(x, stack(v, w));  y = b[0];  z =
//   b[1]
//
// The others have the same shape, and are known before the network runs.
#include <map>

#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

void batch(Rewrite& rewrite, const std::vector<size_t>& nodes) {
  const Graph& graph = rewrite.graph;
  const Node first = graph.nodes[nodes[0]];
  std::vector<ValueId> parts;
  for (size_t n : nodes) {
    const Node& node = graph.nodes[n];
    Shape shape = graph.values[node.inputs[1]].type.shape;
    shape.insert(shape.begin(), 1);
    parts.push_back(rewrite.call_before(nodes[0], "reshape", {node.inputs[1]}, {{"shape", shape}},
                                        node.name + ".part"));
  }
  ValueId stack =
      rewrite.call_before(nodes[0], "concat", parts, {{"axis", 0L}}, first.name + ".parts");
  ValueId all = rewrite.call_before(nodes[0], "matmul", {first.inputs[0], stack}, first.attributes,
                                    first.name + ".all");
  Shape sizes = graph.values[all].type.shape;
  sizes[0] = 1;
  for (size_t i = 0; i < nodes.size(); ++i) {
    Shape starts(sizes.size(), 0);
    starts[0] = static_cast<long>(i);
    ValueId one = rewrite.call_before(nodes[i], "slice", {all},
                                      {{"starts", starts}, {"sizes", sizes}}, first.name + ".one");
    Shape shape = graph.values[graph.nodes[nodes[i]].outputs[0]].type.shape;
    rewrite.become(nodes[i], "reshape", {one}, {{"shape", shape}});
  }
}

Graph run_batching_ops(const Graph& graph, const PassContext& /*context*/) {
  std::map<std::string, std::vector<size_t>> alike;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.op != "matmul" || graph.values[node.outputs[0]].type.dynamic) continue;
    const Type& weight = graph.values[node.inputs[1]].type;
    bool are_matrices =
        weight.shape.size() == 2 && graph.values[node.inputs[0]].type.shape.size() == 2;
    if (!are_matrices || !is_known_before(graph, node.inputs[1])) continue;
    Element sums = graph.values[node.outputs[0]].type.element;
    alike[fmt::format("{} {} {}", node.inputs[0], print_type(weight), name_of(sums))].push_back(n);
  }
  Rewrite rewrite(graph);
  for (const auto& [like, nodes] : alike) {
    if (nodes.size() > 1) batch(rewrite, nodes);
  }
  return rewrite.finish();
}

}  // namespace

Pass batching_ops() {
  return {"BatchingOps", "compute products of one matrix with several others as one",
          run_batching_ops};
}

}  // namespace lathe::passes
