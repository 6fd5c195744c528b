// layers.cpp: the nodes of a network as a person sees them. Interface: layers.h.
#include "program/layers.h"

#include <fnmatch.h>

#include <algorithm>

#include "base/memo.h"
#include "poly/isl.h"

namespace lathe {
namespace {

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

/// Does the layer read what the network is given, as it is?
bool reads_input(const Graph& graph, const Node& node) {
  return graph.values[node.inputs.front()].kind == Value::Kind::input;
}

bool is_pointwise(const Graph& graph, const Node& node) {
  const Shape& shape = graph.values[node.inputs[1]].type.shape;
  return std::all_of(shape.begin() + 2, shape.end(), [](long extent) { return extent == 1; });
}

/// Is the node's name that of a layer, or one that begins with it?
bool is_part_of(const std::string& node, const std::string& layer) {
  if (!node.starts_with(layer)) return false;
  return node.size() == layer.size() || node[layer.size()] == '_' || node[layer.size()] == '.';
}

bool all_are(const Shape& list, long value) {
  return std::all_of(list.begin(), list.end(), [&](long x) { return x == value; });
}

/// Prints a list as one number if all are the same: "2", "2x1".
std::string print_list(const Shape& list) {
  return all_are(list, list.front()) ? std::to_string(list.front()) : print_shape(list);
}

/// Does a node add up products, or anything else?
bool sums_up(const Call& call) {
  static Memo<bool> memo;
  return *memo.of(print(call), [&] {
    if (!has_nest(call)) return false;
    Context context;
    const Nest nest = nest_of(context, call);
    return std::any_of(nest.statements().begin(), nest.statements().end(),
                       [](const Statement& s) { return s.update == Update::add; });
  });
}

std::string describe_conv(const Call& call) {
  const Shape &input = call.shape(0), &weight = call.shape(1);
  long groups = call.integer("groups");
  Shape kernel(weight.begin() + 2, weight.end());
  std::string text = fmt::format("{} {} {}->{}", call.name(), print_shape(kernel), input[1],
                                 call.name() == "conv" ? weight[0] : weight[1] * groups);
  const Shape &strides = call.integers("strides"), &dilations = call.integers("dilations");
  if (!strides.empty()) text += " /" + print_list(strides);
  if (!dilations.empty()) text += " dilation " + print_list(dilations);
  if (groups > 1) {
    bool depthwise = groups == input[1] && groups == weight[0];
    text += depthwise ? " depthwise" : fmt::format(" groups {}", groups);
  }
  return text;
}

std::string describe_pool(const Call& call) {
  std::string text = fmt::format("{} {}", call.name(), print_shape(call.integers("kernel")));
  const Shape& strides = call.integers("strides");
  return strides.empty() ? text : text + " /" + print_list(strides);
}

std::string describe(const Call& call) {
  const std::string& op = call.name();
  if (op == "conv" || op == "conv_transpose") return describe_conv(call);
  if (op.ends_with("_pool") && op != "global_pool") return describe_pool(call);
  if (op == "fully_connected") {
    return fmt::format("{} {}->{}", op, call.shape(1)[1], call.shape(1)[0]);
  }
  if (op == "matmul") {
    return fmt::format("{} {} * {}", op, print_shape(call.shape(0)), print_shape(call.shape(1)));
  }
  return op;
}

}  // namespace

std::vector<size_t> changeable_layers(const Graph& graph, const LayerChoice& choice) {
  std::vector<size_t> result;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    bool may = node.op == "conv" && !reads_input(graph, node) &&
               (choice.pointwise || !is_pointwise(graph, node)) &&
               matches(choice.include, node.name) && !matches(choice.exclude, node.name);
    if (may) result.push_back(n);
  }
  return result;
}

std::optional<size_t> layer_with(const std::string& node, const std::vector<std::string>& layers) {
  std::optional<size_t> best;
  for (size_t i = 0; i < layers.size(); ++i) {
    bool longer = !best || layers[i].size() > layers[*best].size();
    if (longer && is_part_of(node, layers[i])) best = i;
  }
  return best;
}

std::vector<ValueId> layer_weights(const Graph& graph) {
  std::vector<bool> varies(graph.values.size(), false), counts(graph.values.size(), false);
  for (ValueId id : graph.inputs) varies[id] = true;
  for (const Node& node : graph.nodes) {
    bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                           [&](ValueId id) { return id != no_value && varies[id]; });
    for (ValueId id : node.outputs) {
      if (id != no_value) varies[id] = any;
    }
  }
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    ValueId output = node.outputs.front();
    // What weights alone are made into counts where that does; what varies, where it is summed up.
    bool is_layer = varies[output] ? sums_up(call_of(graph, node)) : counts[output];
    for (ValueId id : node.inputs) {
      if (is_layer && id != no_value && !varies[id]) counts[id] = true;
    }
  }
  std::vector<ValueId> result;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    bool is_weight = value.kind == Value::Kind::weight && value.type.shape.size() > 1;
    if (is_weight && counts[id]) result.push_back(id);
  }
  return result;
}

std::vector<Layer> layers_of(const Graph& graph) {
  Context context;
  std::map<std::string, Cost> costs;
  std::vector<Layer> layers;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    Call call = call_of(graph, node);
    Layer layer{n, node.name, node.op, describe(call), print(call), {}, {}};
    const Type& output = graph.values[node.outputs.front()].type;
    layer.inner_output = output.shape;
    if (layer.inner_output.size() > 1) layer.inner_output.erase(layer.inner_output.begin());
    layer.is_convolution = node.op == "conv" || node.op == "conv_transpose";
    // A nest that only moves data has nothing worth counting.
    auto known = costs.find(layer.key);
    if (known == costs.end()) {
      bool counts = has_nest(call) && call.op().graph.run == nullptr;
      known = costs.emplace(layer.key, counts ? operations(nest_of(context, call)) : Cost{}).first;
    }
    layer.cost = known->second;
    for (ValueId id : node.inputs) {
      if (id == no_value || graph.values[id].kind != Value::Kind::weight) continue;
      layer.weights += count_of(graph.values[id].type.shape);
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace lathe
