// importance.cpp: channels of trained networks. Interface: importance.h.
#include "capacity/importance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "metrics/metric_weights.h"
#include "program/channel_order.h"
#include "program/layers.h"
#include "transforms/transform_permute.h"

namespace lathe {
namespace {

/// A number for each element of a value.
struct ElementScores {
  Shape shape;
  std::vector<double> scores;

  /// Adds other numbers of the same value.
  void add(const Shape& of, const std::vector<double>& more) {
    shape = of;
    scores.resize(more.size(), 0);
    for (size_t i = 0; i < more.size(); ++i) scores[i] += more[i];
  }

  /// Returns the sum over all elements with the same index in a dimension, for each index.
  std::vector<double> sums(size_t dimension) const {
    size_t inner = 1;
    for (size_t d = dimension + 1; d < shape.size(); ++d) inner *= static_cast<size_t>(shape[d]);
    auto extent = static_cast<size_t>(shape[dimension]);
    std::vector<double> result(extent, 0);
    for (size_t i = 0; i < scores.size(); ++i) result[i / inner % extent] += scores[i];
    return result;
  }
};

using ScoresOfValues = std::map<ValueId, ElementScores>;

const Node& layer_named(const Graph& network, const std::string& name) {
  auto node = find_node(network, name);
  check(node.has_value(), "a layer that is scored is a node of the network");
  return network.nodes[*node];
}

/// Returns the weight that a layer reads; nothing if it is computed from others first.
std::optional<ValueId> weight_of(const Node& layer, const std::vector<ValueId>& weights) {
  auto found =
      std::find_first_of(layer.inputs.begin(), layer.inputs.end(), weights.begin(), weights.end());
  if (found == layer.inputs.end()) return std::nullopt;
  return *found;
}

/// Adds what Fisher Potential says of the channels of layers' outputs.
void add_fisher(ScoresOfValues& all, const Graph& network, const Scorer& scorer) {
  for (const Scores& scores : scorer.run(network, {find_metric("fisher")})) {
    for (const Score& score : scores.of_seeds) {
      for (const LayerScore& layer : score.layers) {
        ValueId output = layer_named(network, layer.layer).outputs.front();
        all[output].add({1, static_cast<long>(layer.channels.size())}, layer.channels);
      }
    }
  }
}

/// Adds |w * dL/dw| of layers' weights, minibatch by minibatch.
void add_taylor(ScoresOfValues& all, const Graph& network, const Scorer& scorer) {
  std::vector<ValueId> weights = layer_weights(network);
  for (size_t i = 0; i < scorer.options().seeds; ++i) {
    uint64_t seed = scorer.options().first_seed + i;
    Evaluation evaluation(network, scorer.batch(network, seed), scorer.evaluation(network, seed));
    Probe& probe = evaluation.probe();
    std::vector<WeightResult> wanted = want_gradients(probe);
    evaluation.run({});
    for (const WeightResult& each : wanted) {
      auto weight = weight_of(layer_named(network, each.layer), weights);
      if (!weight) continue;
      std::vector<double> products = each.weight.reals();
      std::vector<double> gradients = probe.result(each.place).reals();
      for (size_t e = 0; e < products.size(); ++e) {
        products[e] = std::abs(products[e] * gradients[e]);
      }
      all[*weight].add(each.weight.shape(), products);
    }
  }
}

void add_magnitude(ScoresOfValues& all, const Graph& network) {
  for (ValueId id : layer_weights(network)) {
    const Value& weight = network.values[id];
    if (!weight.data) continue;
    std::vector<double> squares = weight.data->reals();
    for (double& each : squares) each *= each;
    all[id].add(weight.type.shape, squares);
  }
}

/// Returns the first layer whose filters are just the channels of a set, in their order.
std::optional<std::string> layer_of(const Graph& network, const ChannelSet& set) {
  for (const Node& node : network.nodes) {
    if (!is_layer(node)) continue;
    for (const ChannelRange& member : set.members) {
      bool are_filters = member.value == node.inputs[1] && member.dimension == 0 &&
                         member.count == set.channels &&
                         network.values[member.value].type.shape[0] == set.channels;
      if (are_filters && std::is_sorted(member.elements.begin(), member.elements.end())) {
        return node.name;
      }
    }
  }
  return std::nullopt;
}

/// Returns the sum over all members of a set that have scores.
std::vector<double> scores_of(const ChannelSet& set, const ScoresOfValues& all) {
  std::vector<double> result(static_cast<size_t>(set.channels), 0);
  for (const ChannelRange& member : set.members) {
    auto found = all.find(member.value);
    bool counts_groups = member.elements.size() % result.size() != 0;  // inputs of one group
    if (found == all.end() || counts_groups) continue;
    if (member.dimension >= found->second.shape.size()) continue;
    std::vector<double> sums = found->second.sums(member.dimension);
    size_t each = member.elements.size() / result.size();
    for (size_t e = 0; e < member.elements.size(); ++e) {
      result[e / each] += sums[static_cast<size_t>(member.elements[e])];
    }
  }
  return result;
}

}  // namespace

std::optional<Importance> importance_named(std::string_view name) {
  if (name == "fisher") return Importance::fisher;
  if (name == "taylor") return Importance::taylor;
  if (name == "magnitude") return Importance::magnitude;
  return std::nullopt;
}

std::vector<ChannelImportance> importance_of(const Graph& network, const Scorer& scorer,
                                             Importance by) {
  ScoresOfValues all;
  if (by == Importance::fisher) add_fisher(all, network, scorer);
  if (by == Importance::taylor) add_taylor(all, network, scorer);
  if (by == Importance::magnitude) add_magnitude(all, network);
  std::vector<ChannelImportance> result;
  for (const ChannelSet& set : channel_sets(network)) {
    if (set.fixed || set.channels < 2) continue;
    auto layer = layer_of(network, set);
    if (layer) result.push_back({*layer, set, scores_of(set, all)});
  }
  return result;
}

std::vector<long> order_by_importance(const ChannelImportance& importance) {
  std::vector<long> order(importance.channels.size());
  std::iota(order.begin(), order.end(), 0);
  auto is_more = [&](long a, long b) {
    return importance.channels[static_cast<size_t>(a)] >
           importance.channels[static_cast<size_t>(b)];
  };
  long group = importance.set.channels / importance.set.multiple;
  for (auto begin = order.begin(); begin != order.end(); begin += group) {
    std::stable_sort(begin, begin + group, is_more);
  }
  return order;
}

NetworkRecipe most_important_first(const Graph& network,
                                   const std::vector<ChannelImportance>& all) {
  NetworkRecipe recipe;
  for (const ChannelImportance& each : all) {
    std::vector<long> order = order_by_importance(each);
    if (std::is_sorted(order.begin(), order.end())) continue;
    try {
      with_order(network, {{each.set, order}});
    } catch (const UserError&) {
      continue;  // a layer reads these channels in a way that forbids it
    }
    recipe.push_back({pattern_of(each.layer), {permute_step(order)}});
  }
  return recipe;
}

}  // namespace lathe
