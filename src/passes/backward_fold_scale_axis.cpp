// backward_fold_scale_axis.cpp: takes a factor for each channel into the convolution before it.
//
//   c = conv(x, w, b)        =>        z = conv(x, mul(w, reshape(s)), mul(b, reshape(s)))
//   z = mul(c, s)
//
// FoldConstant computes the products, where weights have data.
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"
#include "passes/pass_scale.h"

namespace lathe::passes {
namespace {

Graph run_backward_fold_scale_axis(const Graph& graph, const PassContext& /*context*/) {
  Rewrite rewrite(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    auto scaling = scaling_of(graph, graph.nodes[n]);
    auto producer = scaling ? rewrite.only_for(n, scaling->image) : std::nullopt;
    // What this pass has changed is looked at when it runs again.
    if (!producer || rewrite.graph.nodes[*producer].op != "conv") continue;
    const Node conv = graph.nodes[*producer];
    if (conv.op != "conv" || !takes_factors(graph, conv)) continue;
    std::vector<ValueId> inputs = conv.inputs;
    for (size_t i = 1; i < inputs.size(); ++i) {
      if (inputs[i] == no_value) continue;
      Shape shape(graph.values[inputs[i]].type.shape.size(), 1);
      shape[0] = graph.values[conv.outputs[0]].type.shape[1];
      ValueId scale = rewrite.call_before(n, "reshape", {scaling->scale}, {{"shape", shape}},
                                          conv.name + ".scale");
      inputs[i] = rewrite.call_before(n, "mul", {inputs[i], scale}, {}, conv.name + ".scaled");
    }
    rewrite.become(n, "conv", inputs, conv.attributes);
    rewrite.remove(*producer);
  }
  return rewrite.finish();
}

}  // namespace

Pass backward_fold_scale_axis() {
  return {"BackwardFoldScaleAxis", "take factors of channels into the convolution before them",
          run_backward_fold_scale_axis};
}

}  // namespace lathe::passes
