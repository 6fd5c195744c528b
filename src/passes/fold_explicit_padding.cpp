// fold_explicit_padding.cpp: takes zeros around an image into the convolution that reads them.
//
//   p = pad(x, pads=[0, 0, 1, 1, 0, 0, 1, 1])        =>        y = conv(x, w, pads=[1, 1, 1, 1])
//   y = conv(p, w)
#include <algorithm>

#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// Returns what a node adds before and after each dimension of an image, if these hold "padding",
/// and none of them is negative or adds channels.
Shape added_around(const Graph& graph, const Node& node, double padding) {
  if (node.op != "pad" || node.inputs[0] == no_value) return {};
  Call call = call_of(graph, node);
  Shape pads = call.integers("pads");
  size_t rank = pads.size() / 2;
  bool none = std::any_of(pads.begin(), pads.end(), [](long p) { return p < 0; });
  for (size_t d : {size_t{0}, size_t{1}, rank, rank + 1}) none = none || pads[d] != 0;
  return none || call.real("value") != padding ? Shape{} : pads;
}

Graph run_fold_explicit_padding(const Graph& graph, const PassContext& /*context*/) {
  Rewrite rewrite(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    auto producer = node.op == "conv" ? rewrite.producer(node.inputs[0]) : std::nullopt;
    if (!producer) continue;
    double padding = call_of(graph, node).real("padding");
    Shape around = added_around(graph, graph.nodes[*producer], padding);
    if (around.empty()) continue;
    size_t rank = around.size() / 2, spatial = rank - 2;
    Shape pads = call_of(graph, node).integers("pads", 2 * spatial);
    for (size_t d = 0; d < spatial; ++d) {
      pads[d] += around[2 + d];
      pads[spatial + d] += around[rank + 2 + d];
    }
    rewrite.graph.nodes[n].inputs[0] = graph.nodes[*producer].inputs[0];
    rewrite.graph.nodes[n].attributes["pads"] = pads;
  }
  return rewrite.finish();
}

}  // namespace

Pass fold_explicit_padding() {
  return {"FoldExplicitPadding", "take zeros around an image into the convolution",
          run_fold_explicit_padding};
}

}  // namespace lathe::passes
