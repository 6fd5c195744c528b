// alter_op_layout.cpp: channels lie together in blocks wherever all users of a value like it.
//
//   conv -> relu -> conv        the values between have 64 channels side by side (NCHWc)
//
// Convolutions and windows read and write vectors of channels; element-wise work takes any layout.
// Values whose channels are the same ones (of a residual sum, a concatenation) have the same
// blocks, as large as fits them all: what a convolution sums up then comes from few places. What
// else reads a value, a reshape say, wants it row-major. A network's inputs and outputs are
// row-major: an input that convolutions read, other than depthwise, is first copied, once.
#include <algorithm>
#include <numeric>

#include "passes/pass.h"
#include "passes/pass_channels.h"

namespace lathe::passes {
namespace {

bool is_image(const Type& type) {
  return !type.dynamic && type.shape.size() >= 3 && is_float(type.element);
}

/// Copies an input that convolutions read, so that it can be stored as they like it.
Graph with_copied_inputs(const Graph& graph) {
  Graph result = graph;
  auto users = consumers(graph);
  std::vector<Node> copies;
  for (ValueId id : graph.inputs) {
    if (!is_image(graph.values[id].type)) continue;
    bool wanted = std::any_of(users[id].begin(), users[id].end(),
                              [&](size_t n) { return sums_channels(graph, graph.nodes[n]); });
    if (!wanted) continue;
    Value copy;
    copy.name = graph.values[id].name + ".stored";
    while (find_value(result, copy.name) || find_node(result, copy.name)) copy.name += "'";
    copy.type = graph.values[id].type;
    ValueId to = result.values.size();
    for (size_t n : users[id]) {
      std::replace(result.nodes[n].inputs.begin(), result.nodes[n].inputs.end(), id, to);
    }
    copies.push_back({copy.name, "identity", {}, {id}, {to}});
    result.values.push_back(std::move(copy));
  }
  result.nodes.insert(result.nodes.begin(), copies.begin(), copies.end());
  return result;
}

/// Which values have the same channels, because operators take them over one by one: a value's
/// representative, and what is known of all of them.
class Classes {
 public:
  explicit Classes(const Graph& graph)
      : parent_(graph.values.size()), channels_(parent_.size(), 0) {
    std::iota(parent_.begin(), parent_.end(), ValueId{0});
    most_.assign(parent_.size(), 64);
    for (const Node& node : graph.nodes) {
      if (takes_any_layout(graph, node)) add(graph, node);
    }
    for (ValueId id = 0; id < parent_.size(); ++id) {
      const Type& type = graph.values[id].type;
      if (!is_image(type) || type.shape[1] == 1) continue;  // one channel is broadcast
      long& all = channels_[find(id)];
      all = std::gcd(all, type.shape[1]);
    }
  }

  /// Returns the largest block that fits all values of a class.
  long block_of(ValueId id) const {
    ValueId root = find(id);
    for (long block : {64L, 48L, 32L, 16L, 8L, 4L}) {
      if (block <= most_[root] && channels_[root] % block == 0) return block;
    }
    return 1;
  }

 private:
  std::vector<ValueId> parent_;
  std::vector<long> channels_, most_;

  ValueId find(ValueId id) const {
    while (parent_[id] != id) id = parent_[id];
    return id;
  }

  void add(const Graph& graph, const Node& node) {
    bool sums = sums_channels(graph, node);
    ValueId to = node.outputs.front();
    for (size_t i = sums ? 1 : 0; i < node.inputs.size(); ++i) {
      ValueId from = node.inputs[i];
      if (from == no_value || graph.values[from].kind != Value::Kind::computed) continue;
      if (is_image(graph.values[from].type)) unite(from, to);
    }
    // Windows with weights of their own for each channel walk a few channels at a time.
    if (walks_channels(graph, node)) most_[find(to)] = 16;
  }

  void unite(ValueId a, ValueId b) {
    a = find(a);
    b = find(b);
    most_[b] = std::min(most_[a], most_[b]);
    parent_[a] = b;
  }
};

Graph run(const Graph& graph) {
  Graph result = with_copied_inputs(graph);
  auto users = consumers(result);
  Classes classes(result);
  std::vector<bool> is_output(result.values.size(), false);
  for (ValueId id : result.outputs) is_output[id] = true;
  for (const Node& node : result.nodes) {
    if (!takes_any_layout(result, node)) continue;
    for (ValueId id : node.outputs) {
      Value& value = result.values[id];
      if (is_output[id] || !is_image(value.type)) continue;
      bool liked = std::all_of(users[id].begin(), users[id].end(),
                               [&](size_t n) { return takes_any_layout(result, result.nodes[n]); });
      const Shape& shape = value.type.shape;
      bool is_pixel = std::all_of(shape.begin() + 2, shape.end(), [](long e) { return e == 1; });
      if (liked && !is_pixel && shape[1] > 1) value.storage.block = classes.block_of(id);
    }
  }
  return result;
}

}  // namespace

Pass alter_op_layout() {
  return {"alter_op_layout", "stores channels in blocks where all users like it", run};
}

}  // namespace lathe::passes
