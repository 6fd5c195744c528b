// channel_order.cpp: channels in another order, weights and all. Interface: channel_order.h.
//
// The sets say where the channels of what flows through the network go. What that means for the
// weights, node by node, follows from the nests (program/reordering.h).
#include "program/channel_order.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "ops/op.h"
#include "program/reordering.h"

namespace lathe {
namespace {

std::string set_name(const Graph& graph, const ChannelSet& set) {
  for (const ChannelRange& m : set.members) {
    const Value& value = graph.values[m.value];
    if (value.kind == Value::Kind::weight && m.dimension == 0) return value.name;
  }
  return graph.values[set.members.front().value].name;
}

bool is_in_order(const std::vector<long>& order) {
  return std::is_sorted(order.begin(), order.end());
}

void require_order(const std::vector<long>& order, long channels, const std::string& what) {
  std::vector<long> sorted = order, all(static_cast<size_t>(channels));
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0L);
  if (sorted != all) {
    fail("an order of the {} channels of '{}' names each of them once, from 0 to {}", channels,
         what, channels - 1);
  }
}

/// Is a value known before the network runs? Then it can be stored in another order.
bool is_stored(const Value& value) {
  return value.kind != Value::Kind::computed && value.kind != Value::Kind::input;
}

/// Puts the channels of all values into other orders.
class Ordering {
 public:
  explicit Ordering(Graph graph) : graph_(std::move(graph)), flowing_(graph_.values.size()) {}

  void add(const ChannelOrder& order) {
    const auto& [set, places] = order;
    std::string name = set_name(graph_, set);
    require_order(places, set.channels, name);
    if (is_in_order(places)) return;
    if (set.fixed) {
      fail("the {} channels of '{}' stay in their order: {} fixes it", set.channels, name, set.why);
    }
    for (const ChannelRange& m : set.members) {
      if (!is_stored(graph_.values[m.value])) add(m, places);
    }
  }

  Graph run() {
    for (const Node& node : graph_.nodes) read(node);
    for (const auto& [id, how] : stored_) {
      std::optional<Array>& data = graph_.values[id].data;
      if (data) data = reordered(*data, how.first);
    }
    return std::move(graph_);
  }

 private:
  Graph graph_;
  Context context_;
  std::vector<Reorderings> flowing_;                               // of inputs and computed values
  std::map<ValueId, std::pair<Reorderings, std::string>> stored_;  // and who reads it so

  void add(const ChannelRange& m, const std::vector<long>& order) {
    size_t each = m.elements.size() / order.size();
    Reordering* known = nullptr;
    for (Reordering& r : flowing_[m.value]) {
      if (r.dimensions.front() == m.dimension) known = &r;
    }
    if (known == nullptr) {
      long extent = graph_.values[m.value].type.shape[m.dimension];
      std::vector<long> from(static_cast<size_t>(extent));
      std::iota(from.begin(), from.end(), 0L);
      known = &flowing_[m.value].emplace_back(Reordering{{m.dimension}, std::move(from)});
    }
    for (size_t c = 0; c < order.size(); ++c) {
      for (size_t k = 0; k < each; ++k) {
        auto to = static_cast<size_t>(m.elements[c * each + k]);
        known->from[to] = m.elements[static_cast<size_t>(order[c]) * each + k];
      }
    }
  }

  bool moves(ValueId id) const { return id != no_value && !flowing_[id].empty(); }

  /// Finds the order of what a node reads of the weights.
  void read(const Node& node) {
    bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                           [&](ValueId id) { return moves(id); }) ||
               std::any_of(node.outputs.begin(), node.outputs.end(),
                           [&](ValueId id) { return moves(id); });
    if (any) return read_in_order(node);
    for (ValueId id : node.inputs) {
      if (id != no_value && is_stored(graph_.values[id])) note(id, {}, node);
    }
  }

  void read_in_order(const Node& node) {
    Call call = call_of(graph_, node);
    if (!reads_are_known(call)) fail("'{}' fixes the order of its channels", node.name);
    Nest nest = nest_of(context_, call);
    std::vector<ValueId> values = values_of(node, nest);
    std::vector<std::optional<Reorderings>> given;
    std::vector<std::string> names;
    for (size_t t = 0; t < values.size(); ++t) {
      bool open = values[t] == no_value || is_stored(graph_.values[values[t]]);
      given.push_back(open ? std::nullopt : std::optional(flowing_[values[t]]));
      bool is_own = nest.tensors()[t].role == Role::local;
      names.push_back(is_own ? node.name : graph_.values[values[t]].name);
    }
    std::vector<Reorderings> all = completed(nest, given, names);
    for (size_t t = 0; t < values.size(); ++t) {
      if (!given[t] && values[t] != no_value) note(values[t], all[t], node);
    }
  }

  /// Returns the values that the tensors of a node's nest are; none for its own.
  std::vector<ValueId> values_of(const Node& node, const Nest& nest) const {
    std::vector<ValueId> operands, result;
    for (ValueId id : node.inputs) {
      bool is_there = id != no_value && count_of(graph_.values[id].type.shape) > 0;
      if (is_there) operands.push_back(id);
    }
    size_t next_input = 0, next_output = 0;
    for (const Tensor& tensor : nest.tensors()) {
      if (tensor.role == Role::local) {
        result.push_back(no_value);
      } else if (tensor.role == Role::output) {
        result.push_back(node.outputs[next_output++]);
      } else {
        result.push_back(operands[next_input++]);
      }
    }
    return result;
  }

  void note(ValueId id, const Reorderings& how, const Node& node) {
    auto [found, is_new] = stored_.try_emplace(id, how, node.name);
    if (is_new || found->second.first == how) return;
    fail("'{}' and '{}' share '{}', and would need it in different orders", found->second.second,
         node.name, graph_.values[id].name);
  }
};

/// Finds the order of a set's channels from that of a layer's filters.
std::vector<long> order_of_set(const ChannelSet& set, const std::vector<long>& elements,
                               const std::vector<long>& order, const std::string& layer) {
  size_t each = elements.size() / static_cast<size_t>(set.channels);
  std::map<long, size_t> place_of;  // of a filter among the elements
  for (size_t i = 0; i < elements.size(); ++i) place_of[elements[i]] = i;
  std::vector<long> result;
  for (size_t i = 0; i < elements.size(); ++i) {
    long filter = order[static_cast<size_t>(elements[i])];
    auto from = place_of.find(filter);
    bool fits = from != place_of.end() && from->second % each == i % each;
    if (fits && i % each == 0) result.push_back(static_cast<long>(from->second / each));
    fits = fits && result.back() == static_cast<long>(from->second / each);
    if (!fits) {
      fail(
          "filter {} of '{}' cannot take the place of filter {}: other layers treat them "
          "differently",
          filter, layer, elements[i]);
    }
  }
  return result;
}

}  // namespace

Graph with_order(Graph graph, const std::vector<ChannelOrder>& orders) {
  Ordering ordering(std::move(graph));
  for (const ChannelOrder& order : orders) ordering.add(order);
  return ordering.run();
}

std::vector<ChannelOrder> orders_of_filters(const Graph& graph, const std::vector<ChannelSet>& sets,
                                            ValueId weight, const std::vector<long>& order) {
  const Value& value = graph.values[weight];
  require_order(order, value.type.shape.front(), value.name);
  std::vector<long> rest = order;  // of filters in no set: they stay
  std::vector<ChannelOrder> result;
  for (const ChannelSet& set : sets) {
    for (const ChannelRange& m : set.members) {
      if (m.value != weight || m.dimension != 0) continue;
      ChannelOrder each{set, order_of_set(set, m.elements, order, value.name)};
      if (!is_in_order(each.order)) result.push_back(std::move(each));
      for (long filter : m.elements) rest[static_cast<size_t>(filter)] = filter;
    }
  }
  if (!is_in_order(rest)) fail("what reads the filters of '{}' is not known", value.name);
  return result;
}

}  // namespace lathe
