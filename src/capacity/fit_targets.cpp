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

/// Adds what the operands of a node stand for, if it only copies them.
void add_parts(std::map<ValueId, FitTarget>& targets, const Graph& graph, const Node& node,
               Context& context) {
  auto whole = targets.find(node.outputs.front());
  if (whole == targets.end() || node.outputs.size() != 1) return;
  Call call = call_of(graph, node);
  if (!has_nest(call)) return;
  Nest nest = nest_of(context, call);
  bool copies = std::all_of(nest.statements().begin(), nest.statements().end(), [&](const auto& s) {
    return s.value.op == Expr::Op::read && s.update == Update::assign;
  });
  if (!copies || nest.statements().size() != node.inputs.size()) return;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Value& operand = graph.values[node.inputs[i]];
    if (operand.kind != Value::Kind::computed || targets.contains(node.inputs[i])) continue;
    try {
      Copy copy = copy_of(nest, nest.statements()[i]);
      auto part = target_of_part(whole->second, copy, operand.type.shape);
      if (part) targets.emplace(node.inputs[i], *part);
    } catch (const NoForm&) {
      continue;
    }
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
