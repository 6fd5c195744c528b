// forward_fold_scale_axis.cpp: takes a factor for each channel into the convolution that reads
// them.
//
//   m = mul(x, s)        =>        y = conv(x, mul(w, reshape(s)))
//   y = conv(m, w)
//
// A border of zeros stays zero. FoldConstant computes the product, where weights have data.
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"
#include "passes/pass_scale.h"

namespace lathe::passes {
namespace {

Graph run_forward_fold_scale_axis(const Graph& graph, const PassContext& /*context*/) {
  Rewrite rewrite(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.op != "conv" || call_of(graph, node).integer("groups") != 1) continue;
    if (!takes_factors(graph, node)) continue;
    auto producer = rewrite.only_for(n, node.inputs[0]);
    auto scaling = producer ? scaling_of(graph, graph.nodes[*producer]) : std::nullopt;
    if (!scaling) continue;
    Shape shape(graph.values[node.inputs[1]].type.shape.size(), 1);
    shape[1] = graph.values[node.inputs[0]].type.shape[1];
    ValueId scale = rewrite.call_before(n, "reshape", {scaling->scale}, {{"shape", shape}},
                                        node.name + ".scale");
    ValueId weight =
        rewrite.call_before(n, "mul", {node.inputs[1], scale}, {}, node.name + ".scaled");
    rewrite.graph.nodes[n].inputs[0] = scaling->image;
    rewrite.graph.nodes[n].inputs[1] = weight;
  }
  return rewrite.finish();
}

}  // namespace

Pass forward_fold_scale_axis() {
  return {"ForwardFoldScaleAxis", "take factors of channels into the convolution behind them",
          run_forward_fold_scale_axis};
}

}  // namespace lathe::passes
