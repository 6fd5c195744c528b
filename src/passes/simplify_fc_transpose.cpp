// simplify_fc_transpose.cpp: writes products with a transposed matrix as fully connected layers.
//
//   t = transpose(w, perm=[1, 0])        =>        y = fully_connected(x, w)
//   y = matmul(x, t)
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

Graph run_simplify_fc_transpose(const Graph& graph, const PassContext& /*context*/) {
  Rewrite rewrite(graph);
  auto is_float_matrix = [&](ValueId id) {
    const Type& type = graph.values[id].type;
    return !type.dynamic && type.shape.size() == 2 && is_float(type.element);
  };
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.op != "matmul" || !node.attributes.empty()) continue;
    if (!is_float_matrix(node.inputs[0]) || !is_float_matrix(node.inputs[1])) continue;
    auto producer = rewrite.producer(node.inputs[1]);
    if (!producer || graph.nodes[*producer].op != "transpose") continue;
    rewrite.become(n, "fully_connected", {node.inputs[0], graph.nodes[*producer].inputs[0]});
  }
  return rewrite.finish();
}

}  // namespace

Pass simplify_fc_transpose() {
  return {"SimplifyFCTranspose", "write products with a transposed matrix as layers",
          run_simplify_fc_transpose};
}

}  // namespace lathe::passes
