// defuse_ops.cpp: takes fused operators apart again.
//
//   y = fused(x, w, calls=["conv(%0, %1)", "relu(#0)"])      =>      c = conv(x, w);  y = relu(c)
#include "passes/pass.h"
#include "passes/pass_fused.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

Graph run_defuse_ops(const Graph& graph, const PassContext& /*context*/) {
  using Kind = ops::Source::Kind;
  Rewrite rewrite(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.op != "fused") continue;
    std::vector<ops::TypedPart> parts = calls_of(graph, node);
    std::vector<ValueId> results;
    for (const ops::TypedPart& each : parts) {
      std::vector<ValueId> inputs;
      for (const ops::Source& source : each.part.sources) {
        inputs.push_back(source.kind == Kind::operand  ? node.inputs[source.index]
                         : source.kind == Kind::result ? results[source.index]
                                                       : no_value);
      }
      if (&each == &parts.back()) {
        rewrite.become(n, each.part.op->name, inputs, each.part.attributes);
      } else {
        results.push_back(rewrite.call_before(n, each.part.op->name, inputs, each.part.attributes,
                                              node.name + "." + each.part.op->name));
      }
    }
  }
  return rewrite.finish();
}

}  // namespace

Pass defuse_ops() { return {"DefuseOps", "take fused operators apart", run_defuse_ops}; }

}  // namespace lathe::passes
