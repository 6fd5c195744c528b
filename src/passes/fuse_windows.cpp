// fuse_windows.cpp: takes windows over each channel alone into the 1x1 convolution that they read.
//
//   y = fused(x, w, calls=["conv(%0, %1)", "relu(#0)"])
//   z = conv(y, v, groups=96, pads=[1, 1, 1, 1])
//   =>
//   z = fused(x, w, v, calls=["conv(%0, %1)", "relu(#0)", "conv(#1, %2, groups=96, ...)"])
//
// A few channels of y are then computed and used before the next are, so that y is never whole in
// memory. That is worth it where y is large: a smaller one stays in the second cache between the
// nodes. Workers share blocks of channels, so these must share out about evenly.
#include <algorithm>

#include "passes/pass.h"
#include "passes/pass_channels.h"
#include "passes/pass_fused.h"

namespace lathe::passes {
namespace {

/// A sample of fewer bytes stays in the second cache.
constexpr long least_bytes = 256 * 1024;

/// Channels lie in blocks of so many.
constexpr long block = 16;

bool is_known(const Graph& graph, ValueId id) {
  Value::Kind kind = graph.values[id].kind;
  return kind == Value::Kind::weight || kind == Value::Kind::constant;
}

/// Returns the weights' shape if the node begins with a convolution of images whose weights are
/// known; otherwise nothing.
Shape filters_of(const Graph& graph, const Node& node) {
  if (node.op != "conv" && node.op != "fused") return {};
  auto calls = calls_of(graph, node);
  const auto& sources = calls.front().part.sources;
  if (calls.front().part.op->name != "conv") return {};
  // As fuse_ops writes it: the data and the weights are the first operands.
  for (size_t i : {0, 1}) {
    if (sources[i].kind != ops::Source::Kind::operand || sources[i].index != i) return {};
  }
  const Shape& shape = graph.values[node.inputs[1]].type.shape;
  return shape.size() == 4 && is_known(graph, node.inputs[1]) ? shape : Shape{};
}

/// Is the value one that is worth not storing? Of several samples the two halves do not share their
/// loops yet, and took up to three times as long as apart (measured on MobileNetV2).
bool is_large(const Type& type) {
  bool suits = type.element == Element::f32 || type.element == Element::f16;
  if (type.dynamic || !suits || type.shape.size() != 4) return false;
  return type.shape[0] == 1 && count_of(type.shape) * size_of(type.element) >= least_bytes;
}

/// Can so many workers share the blocks of channels, and wait no more for the last of
/// them than is gained?
bool shares_out(const Shape& shape, long workers) {
  if (shape[1] % block != 0 || shape[1] < 2 * block) return false;
  long blocks = shape[1] / block, rounds = (blocks + workers - 1) / workers;
  return 10 * rounds * workers <= 11 * blocks;
}

/// Does the node end with work on each element of what a dense 1x1 convolution computes?
bool is_expansion(const Graph& graph, const Node& node) {
  Shape filters = filters_of(graph, node);
  if (filters.empty() || filters[1] == 1 || filters[2] != 1 || filters[3] != 1) return false;
  auto calls = calls_of(graph, node);
  return calls.size() > 1 && calls.front().call.integer("groups") == 1;
}

bool is_depthwise(const Graph& graph, const Node& node) {
  Shape filters = filters_of(graph, node);
  if (filters.empty() || filters[1] != 1) return false;
  return filters[0] == graph.values[node.inputs[0]].type.shape[1] && filters[2] * filters[3] > 1;
}

/// Finds the pairs.
class Pairs {
 public:
  Pairs(const Graph& graph, long workers)
      : graph_(graph),
        workers_(workers),
        readers_(consumers(graph)),
        is_output_(graph.values.size(), false),
        producer_(graph.values.size()) {
    for (ValueId id : graph.outputs) is_output_[id] = true;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      for (ValueId id : graph.nodes[n].outputs) producer_[id] = n;
    }
  }

  /// Returns the node that a node can be fused with, if there is one.
  std::optional<size_t> partner_of(const Node& node) const {
    if (!is_depthwise(graph_, node) || !is_stored_in_blocks(node.outputs[0])) return std::nullopt;
    ValueId between = node.inputs[0];
    bool once = readers_[between].size() == 1 &&
                std::count(node.inputs.begin(), node.inputs.end(), between) == 1;
    const Type& type = graph_.values[between].type;
    if (is_output_[between] || !once || !is_large(type)) return std::nullopt;
    if (!shares_out(type.shape, workers_)) return std::nullopt;
    auto producer = producer_[between];
    return producer && is_expansion(graph_, graph_.nodes[*producer]) ? producer : std::nullopt;
  }

 private:
  const Graph& graph_;
  long workers_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> is_output_;
  std::vector<std::optional<size_t>> producer_;

  /// Will the channels of a value lie in blocks? Only then they are computed some at a time.
  bool is_stored_in_blocks(ValueId id) const {
    return !is_output_[id] && std::all_of(readers_[id].begin(), readers_[id].end(), [&](size_t n) {
      return takes_any_layout(graph_, graph_.nodes[n]);
    });
  }
};

Graph run_fuse_windows(const Graph& graph, const PassContext& context) {
  Pairs pairs(graph, context.workers);
  Graph result = graph;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    auto partner = pairs.partner_of(graph.nodes[n]);
    if (partner) result.nodes[n] = fused_node(graph, {*partner, n});
  }
  result = without_dead(result);
  verify_types(result);
  return result;
}

}  // namespace

Pass fuse_windows() {
  return {"FuseWindows", "compute windows of each channel with the 1x1 convolution that they read",
          run_fuse_windows};
}

}  // namespace lathe::passes
