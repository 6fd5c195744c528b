// slice_strided_input.cpp: 1x1 convolutions with a stride get only the pixels that they read.
//
//   conv(x, w, strides=[2, 2])    =>    conv(x[:, :, ::2, ::2], w)
//
// The network's inputs are copied anyway, into the layout that convolutions like. With a stride of
// 2 three quarters of the pixels need no copy.
#include <algorithm>

#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// Returns the strides of a 1x1 convolution of an input that nothing else reads; none if the node
/// is something else.
Shape strides_over_input(const Graph& graph, const Node& node, const std::vector<size_t>& users) {
  ValueId from = node.inputs.empty() ? no_value : node.inputs[0];
  if (node.op != "conv" || from == no_value || users.size() != 1) return {};
  if (graph.values[from].kind != Value::Kind::input) return {};
  const Shape& weights = graph.values[node.inputs[1]].type.shape;
  if (std::any_of(weights.begin() + 2, weights.end(), [](long e) { return e != 1; })) return {};
  Call call = call_of(graph, node);
  size_t n = weights.size() - 2;
  Shape strides = call.integers("strides", n), pads = call.integers("pads", 2 * n);
  auto is = [](long wanted) { return [wanted](long e) { return e == wanted; }; };
  bool plain = std::all_of(pads.begin(), pads.end(), is(0));
  return !plain || std::all_of(strides.begin(), strides.end(), is(1)) ? Shape{} : strides;
}

Graph run_slice_strided_input(const Graph& graph, const PassContext& /*context*/) {
  Rewrite rewrite(graph);
  auto users = consumers(graph);
  for (Node& node : rewrite.graph.nodes) {
    ValueId from = node.inputs.empty() ? no_value : node.inputs[0];
    if (from == no_value) continue;
    Shape strides = strides_over_input(graph, node, users[from]);
    if (strides.empty()) continue;
    const Shape& whole = graph.values[from].type.shape;
    const Shape& output = graph.values[node.outputs[0]].type.shape;
    Shape steps{1, 1}, sizes{whole[0], whole[1]};
    steps.insert(steps.end(), strides.begin(), strides.end());
    sizes.insert(sizes.end(), output.begin() + 2, output.end());
    Value read;
    read.name = graph.values[from].name + ".read";
    read.type = {graph.values[from].type.element, sizes};
    node.attributes.erase("strides");  // 1 is the default
    node.inputs[0] = rewrite.add(std::move(read));
    Attributes attributes{{"starts", Shape(sizes.size(), 0)}, {"sizes", sizes}, {"steps", steps}};
    rewrite.insert_first(
        {rewrite.graph.values[node.inputs[0]].name, "slice", attributes, {from}, {node.inputs[0]}});
  }
  return rewrite.finish();
}

}  // namespace

Pass slice_strided_input() {
  return {"SliceStridedInput", "take the pixels that a strided 1x1 convolution reads",
          run_slice_strided_input};
}

}  // namespace lathe::passes
