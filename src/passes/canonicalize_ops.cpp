// canonicalize_ops.cpp: writes operators that are made of others with those.
//
//   y = conv(x, w, b)        =>        y.sums = conv(x, w)
//                                      y = add(y.sums, reshape(b))
//
// Then a sum with a bias is a node that other passes can move or fuse.
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

Graph run_canonicalize_ops(const Graph& graph, const PassContext& /*context*/) {
  Rewrite rewrite(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    bool sums = node.op == "conv" || node.op == "conv_transpose" || node.op == "fully_connected";
    if (!sums || node.inputs.size() < 3 || node.inputs[2] == no_value) continue;
    const Type& type = graph.values[node.outputs[0]].type;
    if (type.dynamic) continue;
    ValueId product = rewrite.call_before(n, node.op, {node.inputs[0], node.inputs[1]},
                                          node.attributes, node.name + ".sums");
    Shape channels(type.shape.size() - 1, 1);  // broadcasts over everything behind the channels
    channels[0] = type.shape[1];
    ValueId bias = rewrite.call_before(n, "reshape", {node.inputs[2]}, {{"shape", channels}},
                                       node.name + ".bias");
    rewrite.become(n, "add", {product, bias});
  }
  return rewrite.finish();
}

}  // namespace

Pass canonicalize_ops() {
  return {"CanonicalizeOps", "write sums with a bias as two operators", run_canonicalize_ops};
}

}  // namespace lathe::passes
