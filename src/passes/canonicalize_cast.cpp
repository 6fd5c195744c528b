// canonicalize_cast.cpp: gives each reader of a cast a cast of its own.
//
//   c = cast(x)                        y = f(cast(x))
//   y = f(c);  z = g(c)      =>        z = g(cast(x))
//
// A cast that one node reads is fused with it; what lies in memory has the narrower type.
#include <algorithm>

#include "base/element.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

Graph run_canonicalize_cast(const Graph& graph, const PassContext& /*context*/) {
  Rewrite rewrite(graph);
  auto users = consumers(graph);
  for (const Node& node : graph.nodes) {
    if (node.op != "cast" || node.inputs[0] == no_value) continue;
    const Type &from = graph.values[node.inputs[0]].type, &to = graph.values[node.outputs[0]].type;
    if (from.dynamic || !is_wider(to.element, from.element)) continue;
    const std::vector<size_t>& readers = users[node.outputs[0]];
    // The first reader keeps the cast that is there.
    for (size_t i = 1; i < readers.size(); ++i) {
      if (readers[i] == readers[i - 1]) continue;
      ValueId own =
          rewrite.call_before(readers[i], "cast", {node.inputs[0]}, node.attributes, node.name);
      auto& inputs = rewrite.graph.nodes[readers[i]].inputs;
      std::replace(inputs.begin(), inputs.end(), node.outputs[0], own);
    }
  }
  return rewrite.finish();
}

}  // namespace

Pass canonicalize_cast() {
  return {"CanonicalizeCast", "cast to a wider type where it is read, not before",
          run_canonicalize_cast};
}

}  // namespace lathe::passes
