// fewer_channels.cpp: coupled channels that shrink together. Interface: fewer_channels.h.
#include "program/fewer_channels.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/op_graph.h"

namespace lathe {
namespace {

/// Of each dimension of each value, the indices that are left.
using Left = std::vector<std::vector<std::vector<bool>>>;

std::string filters_of(const Graph& graph, const ChannelSet& set) {
  for (const ChannelRange& m : set.members) {
    const Value& value = graph.values[m.value];
    if (value.kind == Value::Kind::weight && m.dimension == 0) return "of '" + value.name + "'";
  }
  return "of '" + graph.values[set.members.front().value].name + "'";
}

void require_shrinking(const Graph& graph, const FewerChannels& cut) {
  const ChannelSet& set = cut.set;
  std::string which = fmt::format("the {} channels {}", set.channels, filters_of(graph, set));
  if (set.fixed) fail("{} reach an input or output of the network, and stay", which);
  if (cut.left < 1 || cut.left > set.channels || cut.left % set.multiple != 0) {
    fail("{} cannot become {}: they are in {} groups somewhere", which, cut.left, set.multiple);
  }
}

Left all_left(const Graph& graph) {
  Left left;
  for (const Value& value : graph.values) {
    left.emplace_back();
    for (long extent : value.type.shape) {
      left.back().emplace_back(static_cast<size_t>(std::max(0L, extent)), true);
    }
  }
  return left;
}

/// Removes a set's channels.
void remove(Left& left, const FewerChannels& cut) {
  for (const ChannelRange& m : cut.set.members) {
    std::vector<bool>& all = left[m.value][m.dimension];
    std::vector<bool> stays(all.size(), false);
    for (long element : elements_left(cut, m)) stays[static_cast<size_t>(element)] = true;
    for (long element : m.elements) {
      auto e = static_cast<size_t>(element);
      all[e] = all[e] && stays[e];
    }
  }
}

Shape shape_of(const std::vector<std::vector<bool>>& left) {
  Shape shape;
  for (const auto& dimension : left) {
    shape.push_back(std::count(dimension.begin(), dimension.end(), true));
  }
  return shape;
}

/// Returns the elements that are left of an array.
Array rest_of(const Array& array, const std::vector<std::vector<bool>>& left) {
  std::vector<double> all = array.reals(), values;
  Shape index(array.shape().size(), 0);
  for (double value : all) {
    bool is_left = true;
    for (size_t d = 0; d < index.size(); ++d) {
      is_left = is_left && left[d][static_cast<size_t>(index[d])];
    }
    if (is_left) values.push_back(value);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < array.shape()[d]) break;
      index[d] = 0;
    }
  }
  return Array::of_reals(array.element(), shape_of(left), values);
}

void shrink(Value& value, const std::vector<std::vector<bool>>& left) {
  Shape shape = shape_of(left);
  if (shape == value.type.shape) return;
  if (value.data) value.data = rest_of(*value.data, left);
  value.type.shape = shape;
}

/// Sets what a node's attributes say of channels: the shape of what it makes, its groups.
void adapt(Node& node, const Graph& graph, const Shape& before, const Shape& now) {
  auto shape = node.attributes.find("shape");
  if (shape != node.attributes.end()) {
    auto* extents = std::get_if<Shape>(&shape->second);
    if (extents != nullptr && *extents == before) *extents = now;
  }
  auto groups = node.attributes.find("groups");
  if (groups != node.attributes.end() && node.op == "conv") {
    long channels = graph.values[node.inputs[0]].type.shape[1];
    groups->second = channels / graph.values[node.inputs[1]].type.shape[1];
  }
}

/// Returns what the scale of a layer's weights goes with, at their beginning: of a fully connected
/// layer, with what it reads.
double usual_scale(const Node& node, const Shape& weight) {
  if (node.op != "conv") return 1 / std::sqrt(static_cast<double>(weight[1]));
  auto groups = node.attributes.find("groups");
  return he_fan_out(weight, groups == node.attributes.end() ? 1 : std::get<long>(groups->second))
      .scale;
}

}  // namespace

std::vector<long> elements_left(const FewerChannels& cut, const ChannelRange& member) {
  long group = cut.set.channels / cut.set.multiple, kept = cut.left / cut.set.multiple;
  long each = std::max(1L, member.count / cut.set.channels);  // elements of a channel
  std::vector<long> left;
  for (long i = 0; i < member.count; ++i) {
    if ((i / each) % group < kept) left.push_back(member.elements[static_cast<size_t>(i)]);
  }
  return left;
}

Graph with_fewer(Graph graph, const std::vector<FewerChannels>& cuts) {
  Left left = all_left(graph);
  std::vector<std::pair<Shape, double>> before;  // shapes and scales of values
  for (const Value& value : graph.values) {
    before.emplace_back(value.type.shape, value.initial.scale);
  }
  for (const FewerChannels& cut : cuts) {
    require_shrinking(graph, cut);
    remove(left, cut);
  }
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    Value& value = graph.values[id];
    if (value.kind != Value::Kind::computed && !value.type.dynamic) shrink(value, left[id]);
  }
  for (Node& node : graph.nodes) {
    ValueId first = node.outputs.front();
    Shape expected = shape_of(left[first]);
    Node old = node;
    adapt(node, graph, before[first].first, expected);
    if (node.op == "conv" || node.op == "fully_connected") {
      Value& weight = graph.values[node.inputs[1]];
      const auto& [shape, scale] = before[node.inputs[1]];
      weight.initial.scale = scale * usual_scale(node, weight.type.shape) / usual_scale(old, shape);
    }
    std::vector<Type> types;
    try {
      types = infer(call_of(graph, node));
    } catch (const UserError& error) {
      fail("'{}' fixes how many channels there are: {}", node.name, error.what());
    }
    if (!types.front().dynamic && types.front().shape != expected) {
      fail("'{}' fixes how many channels there are: it would make {} instead of {}", node.name,
           print_shape(types.front().shape), print_shape(expected));
    }
    for (size_t i = 0; i < types.size(); ++i) graph.values[node.outputs[i]].type = types[i];
  }
  return graph;
}

}  // namespace lathe
