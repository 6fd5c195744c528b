// fit_targets.cpp: see fit_targets.h.
#include "capacity/fit_targets.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "ops/op.h"
#include "program/convolution.h"
#include "program/copy.h"
#include "program/fewer_channels.h"
#include "program/pieces.h"

namespace lathe {
namespace {

/// Returns which channels of a value are left if so many are.
std::optional<Shape> channels_left(const std::vector<ChannelSet>& sets, ValueId value, long left) {
  for (const ChannelSet& set : sets) {
    for (const ChannelRange& member : set.members) {
      if (member.value == value && member.dimension == 1 && member.count == set.channels) {
        return elements_left({set, left}, member);
      }
    }
  }
  return std::nullopt;
}

/// Returns what a value stands for, by its name.
std::optional<FitTarget> target_by_name(const Graph& original, const Value& value,
                                        const std::vector<ChannelSet>& sets) {
  auto found = find_value(original, value.name);
  if (!found || original.values[*found].kind != Value::Kind::computed) return std::nullopt;
  const Shape &before = original.values[*found].type.shape, &now = value.type.shape;
  if (before.size() != now.size()) return std::nullopt;
  FitTarget target{*found, {}};
  for (size_t d = 0; d < now.size(); ++d) {
    target.at.push_back(counted(now[d]));
    if (now[d] == before[d]) continue;
    auto left = d == 1 ? channels_left(sets, *found, now[d]) : std::nullopt;
    if (!left || static_cast<long>(left->size()) != now[d]) return std::nullopt;
    target.at[d] = *left;
  }
  return target;
}

/// Returns what an operand stands for that is copied into a whole.
std::optional<FitTarget> target_of_part(const FitTarget& whole, const Copy& copy,
                                        const Shape& shape) {
  FitTarget target{whole.value, {}};
  for (size_t d = 0; d < shape.size(); ++d) {
    Shape at(static_cast<size_t>(shape[d]), -1);
    for (size_t i = 0; i < copy.from[d].size(); ++i) {
      long& place = at[static_cast<size_t>(copy.from[d][i])];
      if (place >= 0) return std::nullopt;  // it is copied to several places
      place = whole.at[d][static_cast<size_t>(copy.to[d][i])];
    }
    if (std::find(at.begin(), at.end(), -1) != at.end()) return std::nullopt;  // a part of it is not
    target.at.push_back(std::move(at));
  }
  return target;
}

/// Returns how a node copies each of its operands into its output; nothing if it does more.
std::vector<Copy> copies_of(const Graph& graph, const Node& node, Context& context) {
  Call call = call_of(graph, node);
  if (node.outputs.size() != 1 || !has_nest(call)) return {};
  Nest nest = nest_of(context, call);
  if (nest.statements().size() != node.inputs.size()) return {};
  std::vector<Copy> copies;
  for (const Statement& s : nest.statements()) {
    if (s.value.op != Expr::Op::read || s.update != Update::assign) return {};
    try {
      copies.push_back(copy_of(nest, s));
    } catch (const NoForm&) {
      return {};
    }
  }
  return copies;
}

/// Adds what the operands of a node stand for, if it only copies them.
void add_parts(std::map<ValueId, FitTarget>& targets, const Graph& graph, const Node& node,
               Context& context) {
  auto whole = targets.find(node.outputs.front());
  if (whole == targets.end()) return;
  std::vector<Copy> copies = copies_of(graph, node, context);
  for (size_t i = 0; i < copies.size(); ++i) {
    const Value& operand = graph.values[node.inputs[i]];
    if (operand.kind != Value::Kind::computed || targets.contains(node.inputs[i])) continue;
    auto part = target_of_part(whole->second, copies[i], operand.type.shape);
    if (part) targets.emplace(node.inputs[i], *part);
  }
}

}  // namespace

std::map<ValueId, FitTarget> fit_targets(const Graph& original, const Graph& changed) {
  std::vector<ChannelSet> sets = channel_sets(original);
  std::map<ValueId, FitTarget> targets;
  for (ValueId id = 0; id < changed.values.size(); ++id) {
    if (changed.values[id].kind != Value::Kind::computed) continue;
    auto target = target_by_name(original, changed.values[id], sets);
    if (target) targets.emplace(id, std::move(*target));
  }
  Context context;
  for (size_t n = changed.nodes.size(); n-- > 0;) {
    add_parts(targets, changed, changed.nodes[n], context);
  }
  return targets;
}

std::optional<Shape> channels_copied(const Graph& network, ValueId value) {
  if (value == network.inputs.front()) return counted(network.values[value].type.shape[1]);
  Context context;
  for (const Node& node : network.nodes) {
    if (node.outputs.front() != value) continue;
    std::vector<Copy> copies = copies_of(network, node, context);
    if (copies.size() != 1) return std::nullopt;
    const Copy& copy = copies.front();
    for (size_t d = 0; d < copy.to.size(); ++d) {
      bool all = copy.to[d] == counted(network.values[value].type.shape[d]);
      bool same = d == 1 || copy.from[d] == counted(network.values[node.inputs[0]].type.shape[d]);
      if (!all || !same) return std::nullopt;
    }
    auto before = channels_copied(network, node.inputs.front());
    if (!before) return std::nullopt;
    Shape channels;
    for (long c : copy.from[1]) channels.push_back((*before)[static_cast<size_t>(c)]);
    return channels;
  }
  return std::nullopt;
}

Array elements_at(const Array& array, const std::vector<Shape>& at) {
  bool whole = true;
  Shape shape, strides(at.size(), 1);
  for (size_t d = 0; d < at.size(); ++d) {
    shape.push_back(static_cast<long>(at[d].size()));
    whole = whole && at[d] == counted(array.shape()[d]);
  }
  if (whole) return array;
  Shape places{0};
  for (size_t d = 0; d < at.size(); ++d) {
    Shape next;
    next.reserve(places.size() * at[d].size());
    for (long place : places) {
      for (long index : at[d]) next.push_back(place * array.shape()[d] + index);
    }
    places = std::move(next);
  }
  std::span<const float> all = array.as<float>();
  std::vector<float> values;
  values.reserve(places.size());
  for (long place : places) values.push_back(all[static_cast<size_t>(place)]);
  return Array::of<float>(shape, values);
}

}  // namespace lathe
