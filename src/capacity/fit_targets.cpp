// fit_targets.cpp: see fit_targets.h.
#include "capacity/fit_targets.h"

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

/// How a node copies one of its operands, in parts. Element (from[0][i], from[1][j], ...) of it
/// becomes element (to[0][i], to[1][j], ...) of the output.
using OperandCopies = std::vector<Copy>;

/// Returns how a node copies each of its operands into its output; nothing if it does more.
std::vector<OperandCopies> copies_of(const Graph& graph, const Node& node, Context& context) {
  Call call = call_of(graph, node);
  if (node.outputs.size() != 1 || !reads_are_known(call)) return {};
  Nest nest = nest_of(context, call);
  std::vector<size_t> operand;  // of each tensor
  size_t operands = 0;
  for (const Tensor& tensor : nest.tensors()) {
    operand.push_back(operands);
    operands += tensor.role == Role::input || tensor.role == Role::weight ? 1 : 0;
  }
  if (operands != node.inputs.size()) return {};
  std::vector<OperandCopies> copies(operands);
  for (const Statement& s : nest.statements()) {
    if (s.value.op != Expr::Op::read || s.update != Update::assign) return {};
    try {
      Copy copy = copy_of(nest, s);
      if (nest.tensors()[copy.tensor].role != Role::input) return {};
      copies[operand[copy.tensor]].push_back(std::move(copy));
    } catch (const NoForm&) {
      return {};
    }
  }
  return copies;
}

/// Puts the parts of a copy together, seen from one side: for each index in a dimension, the one
/// that it goes to. Returns nothing unless each element is copied once.
std::optional<std::vector<Shape>> moves_of(const OperandCopies& copies, const Shape& shape,
                                           std::vector<Shape> Copy::*from,
                                           std::vector<Shape> Copy::*to) {
  std::vector<Shape> moves;
  for (long extent : shape) moves.emplace_back(static_cast<size_t>(extent), -1);
  long copied = 0;
  for (const Copy& copy : copies) {
    long count = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      const Shape &begin = (copy.*from)[d], &end = (copy.*to)[d];
      count *= static_cast<long>(begin.size());
      for (size_t i = 0; i < begin.size(); ++i) {
        long& place = moves[d][static_cast<size_t>(begin[i])];
        if (place >= 0 && place != end[i]) return std::nullopt;
        place = end[i];
      }
    }
    copied += count;
  }
  if (copied != count_of(shape)) return std::nullopt;
  return moves;
}

/// Adds what the operands of a node stand for, if it only copies them.
void add_parts(std::map<ValueId, FitTarget>& targets, const Graph& graph, const Node& node,
               Context& context) {
  auto whole = targets.find(node.outputs.front());
  if (whole == targets.end()) return;
  std::vector<OperandCopies> copies = copies_of(graph, node, context);
  for (size_t i = 0; i < copies.size(); ++i) {
    const Value& operand = graph.values[node.inputs[i]];
    if (operand.kind != Value::Kind::computed || targets.contains(node.inputs[i])) continue;
    auto moves = moves_of(copies[i], operand.type.shape, &Copy::from, &Copy::to);
    if (!moves) continue;
    FitTarget target{whole->second.value, *moves};
    for (size_t d = 0; d < target.at.size(); ++d) {
      for (long& place : target.at[d]) place = whole->second.at[d][static_cast<size_t>(place)];
    }
    targets.emplace(node.inputs[i], std::move(target));
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
    std::vector<OperandCopies> copies = copies_of(network, node, context);
    if (copies.size() != 1) return std::nullopt;
    const Shape& shape = network.values[value].type.shape;
    auto moves = moves_of(copies[0], shape, &Copy::to, &Copy::from);
    auto before = channels_copied(network, node.inputs.front());
    if (!moves || !before) return std::nullopt;
    for (size_t d = 0; d < shape.size(); ++d) {
      long extent = network.values[node.inputs.front()].type.shape[d];
      if (d != 1 && (*moves)[d] != counted(extent)) return std::nullopt;
    }
    Shape channels = (*moves)[1];
    for (long& c : channels) c = (*before)[static_cast<size_t>(c)];
    return channels;
  }
  return std::nullopt;
}

Array elements_at(const Array& array, const std::vector<Shape>& at) {
  bool whole = true;
  Shape shape;
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
