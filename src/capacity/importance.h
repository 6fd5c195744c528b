// What the loss of a trained network owes to its channels, and the order that puts the most
// important ones first.
//
//   std::vector<ChannelImportance> all = importance_of(network, scorer, Importance::fisher);
//   NetworkRecipe order = most_important_first(network, all);    layer1.0.conv1: permute(5, 2, ...)
//   Graph fewer = transformed(transformed(network, order), parse_network_recipe("...: keep(8)"));
//
// A new order changes nothing (program/channel_order.h). But a step that keeps the first channels
// keeps the best ones then: that is what structured pruning does.
#pragma once

#include <optional>
#include <string_view>

#include "metrics/metric_scores.h"
#include "program/channels.h"
#include "transforms/transform_network.h"

namespace lathe {

/// How the importance of a channel is told.
enum class Importance {
  fisher,     ///< Fisher Potential's share: 1/(2N) sum_n (sum_ij A*g)^2, of layers' outputs
  taylor,     ///< the sum of |w * dL/dw| over the weights that make or read it
  magnitude,  ///< the sum of squares of these weights; needs no data
};

/// Finds a way by its name: "fisher", "taylor", "magnitude".
std::optional<Importance> importance_named(std::string_view name);

/// How important the channels of a set are, all coupled members together.
struct ChannelImportance {
  std::string layer;  ///< the first one whose filters they are
  ChannelSet set;
  std::vector<double> channels;
};

/// Returns the importance of every set of channels that are the filters of a layer and reach no
/// input or output of the network. The network is for as many samples as a minibatch has, and its
/// weights have data: the scorer's seeds are minibatches then.
std::vector<ChannelImportance> importance_of(const Graph& network, const Scorer& scorer,
                                             Importance by);

/// Returns the order of a set's channels, the most important first. Channels that a layer in groups
/// splits stay in their group. Equal ones keep their order.
std::vector<long> order_by_importance(const ChannelImportance& importance);

/// Returns the steps that put the most important channels first. A set whose layers cannot be put
/// into this order is left as it is.
NetworkRecipe most_important_first(const Graph& network, const std::vector<ChannelImportance>& all);

}  // namespace lathe
