// channel_links.cpp: the links of a network, and the sites that they need. Interface:
// channel_links.h; levels and assignments are in channel_levels.cpp.
#include "search/channel_links.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "ops/op_graph.h"
#include "program/layers.h"
#include "search/network_space.h"

namespace lathe {
namespace {

/// Channels are taken away in steps of this where there are too few for larger ones.
constexpr long least_step = 8;

/// A convolution or fully connected layer, as a node of a network.
struct LayerNode {
  size_t node;
  long groups;
  bool depthwise;
};

/// Finds the layers of a network by their weights.
std::map<ValueId, LayerNode> layers_by_weight(const Graph& network) {
  std::map<ValueId, LayerNode> result;
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    const Node& node = network.nodes[n];
    if (node.op != "conv" && node.op != "fully_connected") continue;
    const Shape &x = network.values[node.inputs[0]].type.shape,
                &w = network.values[node.inputs[1]].type.shape;
    long groups = x[1] / w[1];
    result.emplace(node.inputs[1], LayerNode{n, groups, groups > 1 && groups == w[0]});
  }
  return result;
}

bool is_left_alone(const SpaceOptions& options, const std::string& layer) {
  auto matches = [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), layer.c_str(), 0) == 0;
  };
  return !matches(options.include) || matches(options.exclude);
}

/// Returns by how many channels a set becomes smaller; 0 if it cannot. Each group loses whole
/// vectors where it has several, as vectors do not reach from group to group. Where there are few
/// channels, half of them are taken away.
long step_of(const ChannelSet& set, const SpaceOptions& options) {
  for (long usual : {options.channel_step, std::min(least_step, options.channel_step)}) {
    for (long step : {usual * set.multiple, std::lcm(usual, set.multiple)}) {
      if (set.channels >= 2 * step && set.channels % set.multiple == 0) return step;
    }
  }
  long half = set.channels / 2 / set.multiple * set.multiple;
  return set.channels - half < set.channels ? set.channels - half : 0;
}

/// Finds which layers make and read a set's channels, and what keeps them from becoming fewer.
class SetReader {
 public:
  SetReader(const Graph& network, const SpaceOptions& options)
      : network_(network), options_(options), layers_(layers_by_weight(network)) {}

  SearchedSet read(const ChannelSet& set) const {
    SearchedSet result{set, {}, {}, set.fixed ? set.why : ""};
    for (const ChannelRange& m : set.members) {
      const Value& value = network_.values[m.value];
      if (value.kind != Value::Kind::weight || value.type.shape.size() < 2) continue;
      auto layer = layers_.find(m.value);
      if (layer == layers_.end() || m.dimension > 1) {
        bool is_window = layer != layers_.end();  // that covers all rows or columns there are
        fix(result, is_window ? "they are positions, not channels"
                              : fmt::format("'{}' belongs to no convolution", value.name));
        continue;
      }
      const std::string& name = network_.nodes[layer->second.node].name;
      if (m.dimension == 0 && !layer->second.depthwise) result.makers.push_back(name);
      if (m.dimension == 1 || layer->second.depthwise) result.readers.push_back(name);
      fix(result, reason(set, m, layer->second));
    }
    if (result.makers.empty()) fix(result, "no layer makes them");
    if (result.readers.empty()) fix(result, "no layer reads them");
    if (step_of(set, options_) == 0)
      fix(result, fmt::format("they are in {} groups", set.multiple));
    return result;
  }

  const std::map<ValueId, LayerNode>& layers() const { return layers_; }

 private:
  const Graph& network_;
  const SpaceOptions& options_;
  std::map<ValueId, LayerNode> layers_;

  static void fix(SearchedSet& set, const std::string& why) {
    if (set.fixed.empty()) set.fixed = why;
  }

  /// Returns why a layer's part in a set cannot become smaller; "" if it can.
  std::string reason(const ChannelSet& set, const ChannelRange& m, const LayerNode& layer) const {
    const Node& node = network_.nodes[layer.node];
    const Shape& w = network_.values[m.value].type.shape;
    if (is_left_alone(options_, node.name)) return fmt::format("'{}' is left alone", node.name);
    if (layer.depthwise) return "";
    bool all_filters = m.count == w[0] && m.count % set.channels == 0;
    if (m.dimension == 0 && !all_filters) {
      return fmt::format("the filters of '{}' are divided", node.name);
    }
    if (layer.groups == 1) return m.count % set.channels == 0 ? "" : "they are read in parts";
    if (w[1] == 1) return fmt::format("'{}' has several filters for each", node.name);
    bool all_inputs = m.count * layer.groups == set.channels;
    if (m.dimension == 1 && !all_inputs) {
      return fmt::format("the groups of '{}' read others, too", node.name);
    }
    return "";
  }
};

/// Makes links of the sets that can become fewer.
class Linking {
 public:
  Linking(NetworkSpace space, const Graph& network, const SpaceOptions& options)
      : space_(std::move(space)), network_(network), options_(options), reader_(network, options) {
    for (const ChannelSet& set : channel_sets(network)) sets_.push_back(reader_.read(set));
    described_ = layers_of(network);
    link_of_.resize(sets_.size());
  }

  NetworkSpace run() {
    std::iota(link_of_.begin(), link_of_.end(), size_t{0});
    for (const auto& [weight, layer] : reader_.layers()) {
      for (size_t dimension : {0, 1}) tie(weight, dimension);
    }
    for (size_t s = 0; s < sets_.size(); ++s) {
      if (is_free(s)) add_set(s);
    }
    for (const auto& [weight, layer] : reader_.layers()) add_ends(weight, layer);
    for (size_t k = 0; k < space_.kinds.size(); ++k) find_shape(k);
    return std::move(space_);
  }

 private:
  NetworkSpace space_;
  const Graph& network_;
  const SpaceOptions& options_;
  SetReader reader_;
  std::vector<SearchedSet> sets_;
  std::vector<Layer> described_;
  std::vector<size_t> link_of_;                           // of each set, the first of its link
  std::map<size_t, size_t> links_;                        // by the first set
  std::map<size_t, std::pair<size_t, size_t>> place_of_;  // of each set, link and place in it
  std::map<std::string, size_t> dependent_kinds_;

  bool is_free(size_t set) const { return sets_[set].fixed.empty(); }

  /// The parts of one dimension of a weight that belong to sets that can become fewer.
  std::vector<std::pair<size_t, ChannelRange>> parts(ValueId weight, size_t dimension) const {
    std::vector<std::pair<size_t, ChannelRange>> result;
    for (size_t s = 0; s < sets_.size(); ++s) {
      if (!is_free(s)) continue;
      for (const ChannelRange& m : sets_[s].set.members) {
        if (m.value == weight && m.dimension == dimension) result.emplace_back(s, m);
      }
    }
    return result;
  }

  /// Sets that a layer reads one after the other are one link.
  void tie(ValueId weight, size_t dimension) {
    auto all = parts(weight, dimension);
    for (size_t i = 1; i < all.size(); ++i) {
      size_t from = link_of_[all[i].first], to = link_of_[all[0].first];
      std::replace(link_of_.begin(), link_of_.end(), std::max(from, to), std::min(from, to));
    }
  }

  void add_set(size_t s) {
    auto [found, is_new] = links_.try_emplace(link_of_[s], space_.links.size());
    if (is_new) space_.links.push_back({sets_[s].makers.front(), {}, {}, {}, {}, {}});
    ChannelLink& link = space_.links[found->second];
    place_of_[s] = {found->second, link.sets.size()};
    const ChannelSet& set = sets_[s].set;
    link.sets.push_back({set.channels, step_of(set, options_), vectors_of(set)});
  }

  /// Returns how many weights of normalisations there are for each channel.
  long vectors_of(const ChannelSet& set) const {
    long count = 0;
    for (const ChannelRange& m : set.members) {
      const Value& value = network_.values[m.value];
      bool is_vector = value.kind == Value::Kind::weight && value.type.shape.size() == 1;
      if (is_vector && !is_bias(m.value)) count += m.count;
    }
    return count / set.channels;
  }

  /// Does a layer read it as its bias? It counts with the layer then.
  bool is_bias(ValueId id) const {
    return std::any_of(reader_.layers().begin(), reader_.layers().end(), [&](const auto& each) {
      const Node& node = network_.nodes[each.second.node];
      return node.inputs.size() > 2 && node.inputs[2] == id;
    });
  }

  void add_ends(ValueId weight, const LayerNode& layer) {
    for (size_t dimension : {0, 1}) {
      auto all = parts(weight, dimension);
      if (all.empty()) continue;
      ChannelLink& link = space_.links[place_of_[all[0].first].first];
      LinkEnd end{site_of(layer.node), {}, 0};
      long inside = dimension == 1 ? layer.groups : 1;
      long left = network_.values[weight].type.shape[dimension] * inside;
      for (const auto& [set, m] : all) {
        end.parts.push_back({place_of_[set].second, m.count * inside / sets_[set].set.channels});
        left -= m.count * inside;
      }
      end.others = left;
      bool makes = dimension == 0, reads = dimension == 1 || layer.depthwise;
      if (makes) link.makers.push_back(end);
      if (reads) link.readers.push_back(end);
    }
  }

  /// Returns the site of a node; a new one if it may not change otherwise.
  size_t site_of(size_t node) {
    const Layer& layer = described_[node];
    for (size_t s = 0; s < space_.sites.size(); ++s) {
      if (space_.sites[s].layer == layer.name) return s;
    }
    auto [found, is_new] = dependent_kinds_.try_emplace(layer.key, space_.kinds.size());
    if (is_new) {
      LayerVariant own{{}, "the same operator", layer.cost.macs, layer.weights};
      space_.kinds.push_back({layer.description, {own}, {}});
      space_.kinds.back().dependent = true;
    }
    space_.kinds[found->second].sites.push_back(space_.sites.size());
    space_.sites.push_back({layer.name, found->second});
    return space_.sites.size() - 1;
  }

  void find_shape(size_t kind) {
    const std::string& layer = space_.sites[space_.kinds[kind].sites.front()].layer;
    auto node = std::find_if(network_.nodes.begin(), network_.nodes.end(),
                             [&](const Node& n) { return n.name == layer; });
    space_.kinds[kind].coupled = CoupledLayer(call_of(network_, *node));
  }
};

}  // namespace

std::vector<SearchedSet> searched_sets(const Graph& network, const SpaceOptions& options) {
  SetReader reader(network, options);
  std::vector<SearchedSet> result;
  for (const ChannelSet& set : channel_sets(network)) result.push_back(reader.read(set));
  return result;
}

NetworkSpace with_links(NetworkSpace space, const Graph& network, const SpaceOptions& options) {
  NetworkSpace linked = Linking(std::move(space), network, options).run();
  std::vector<LinkLevels> levels;
  for (const ChannelLink& link : linked.links) levels.push_back(usual_levels(link));
  return with_levels(std::move(linked), levels);
}

}  // namespace lathe
