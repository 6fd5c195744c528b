// fuse_views.cpp: what only chooses elements is read through, not copied.
//
//   v = slice(x, starts=[0, 32, 0, 0], ...)
//   y = conv(v, w)                          =>    y = fused(x, w, calls=["slice(%0, ...)",
//                                                                        "conv(#0, %1)"])
//
// The nest of the fused node reads x where the slice would have copied it from. Several nodes may
// read through one view. A view stays where what reads it cannot do so, and where that would cost
// more than a copy: sums over shuffled channels want them side by side. Windows that slide by 1 do
// not mind, as Winograd's algorithm puts its input into order anyway.
#include <algorithm>

#include "base/memo.h"
#include "ops/op_view.h"
#include "passes/pass.h"
#include "passes/pass_channels.h"
#include "passes/pass_fused.h"

namespace lathe::passes {
namespace {

/// Calls of a fused node, at most: as in fuse_ops.
constexpr size_t most_calls = 32;

/// Does a node only choose elements of a value of reals that is computed or given?
bool is_view(const Graph& graph, const Node& node) {
  if (node.op != "slice" && node.op != "take") return false;
  const Value& from = graph.values[node.inputs[0]];
  bool varies = from.kind == Value::Kind::computed || from.kind == Value::Kind::input;
  const Type& to = graph.values[node.outputs[0]].type;
  bool known = !from.type.dynamic && !to.dynamic && count_of(to.shape) > 0;
  return varies && known && is_float(to.element) && ops::view_of(call_of(graph, node)).has_value();
}

/// Can a node be fused at all? It has a nest and one output, and computes with reals of one type.
bool can_take_views(const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1 || node.op == "concat" || is_view(graph, node)) return false;
  const Type& output = graph.values[node.outputs[0]].type;
  Call call = call_of(graph, node);
  if (call.op().graph.run != nullptr || output.dynamic || !is_float(output.element)) return false;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (call.has(i) && call.element(i) != output.element) return false;
  }
  return has_nest(call) && infer(call).size() == 1;
}

/// Channels of a group from which on Winograd's algorithm is worth it for windows of 3 or 5.
constexpr long least_channels = 8;

/// Is the node a convolution whose input Winograd's algorithm can transform?
bool transforms_input(const Graph& graph, const Node& node) {
  ops::TypedPart part = first_computed(graph, node);
  if (part.part.op->name != "conv" || part.call.shape(1).size() != 4) return false;
  const Shape& weights = part.call.shape(1);
  auto all_one = [&](const char* name) {
    Shape list = part.call.integers(name, 2);
    return std::all_of(list.begin(), list.end(), [](long each) { return each == 1; });
  };
  bool window = weights[2] == weights[3] && (weights[2] == 3 || weights[2] == 5);
  const Shape& to = part.result.shape;
  return window && all_one("strides") && all_one("dilations") && weights[1] >= least_channels &&
         to[2] > 2 && to[3] > 2;
}

/// Does a sum over channels read the view, and does it have others side by side than there are?
bool shuffles_sum(const Graph& graph, const Node& view, const Node& node) {
  auto data = summed_operand(graph, node);
  if (!data || node.inputs[*data] != view.outputs[0]) return false;
  return !ops::is_stretch((*ops::view_of(call_of(graph, view)))[1]);
}

/// Returns the node with the view's call before its own; nothing if it cannot read through it.
std::optional<Node> with_view(const Graph& graph, const Node& view, const Node& node) {
  Node fused = fused_node(graph, std::vector<const Node*>{&view, &node});
  if (std::get<std::vector<std::string>>(fused.attributes.at("calls")).size() > most_calls) {
    return std::nullopt;
  }
  fused.name = node.name;
  Call call = call_of(graph, fused);
  static Memo<bool> memo;
  bool through = *memo.of(print(call), [&] { return ops::reads_through_views(call); });
  return through ? std::optional(std::move(fused)) : std::nullopt;
}

/// Makes a node read through its views, and through what those are views of.
void read_through(const Graph& graph, const std::vector<std::optional<size_t>>& producers,
                  Node& node) {
  for (bool changed = true; changed;) {
    changed = false;
    for (ValueId id : node.inputs) {
      auto from = id == no_value ? std::nullopt : producers[id];
      if (!from || !is_view(graph, graph.nodes[*from])) continue;
      const Node& view = graph.nodes[*from];
      if (shuffles_sum(graph, view, node) && !transforms_input(graph, node)) continue;
      auto fused = with_view(graph, view, node);
      if (!fused) continue;
      node = *fused;
      changed = true;
      break;
    }
  }
}

Graph run_fuse_views(const Graph& graph, const PassContext& /*context*/) {
  std::vector<std::optional<size_t>> producers(graph.values.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId id : graph.nodes[n].outputs) producers[id] = n;
  }
  Graph result = graph;
  for (Node& node : result.nodes) {
    if (can_take_views(graph, node)) read_through(graph, producers, node);
  }
  result = without_dead(result);
  verify_types(result);
  return result;
}

}  // namespace

Pass fuse_views() {
  return {"FuseViews", "read through what only chooses elements", run_fuse_views};
}

}  // namespace lathe::passes
