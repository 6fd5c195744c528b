// alter_op_layout.cpp: channels lie together in blocks wherever all users of a value like it.
//
//   conv -> relu -> conv        the values between have 16 channels side by side (NCHWc)
//
// Convolutions and windows read and write vectors of channels; element-wise work takes any layout.
// What else reads a value, a reshape say, wants it row-major. A network's inputs and outputs are
// row-major: an input that convolutions read, other than depthwise, is first copied, once.
#include <algorithm>

#include "passes/pass.h"
#include "passes/pass_channels.h"

namespace lathe::passes {
namespace {

long block_for(long channels) {
  for (long block : {16L, 8L, 4L}) {
    if (channels % block == 0) return block;
  }
  return 1;
}

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

Graph run(const Graph& graph) {
  Graph result = with_copied_inputs(graph);
  auto users = consumers(result);
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
      if (liked && !is_pixel) value.storage.block = block_for(shape[1]);
    }
  }
  return result;
}

}  // namespace

Pass alter_op_layout() {
  return {"alter_op_layout", "stores channels in blocks where all users like it", run};
}

}  // namespace lathe::passes
