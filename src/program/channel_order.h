// Puts channels of a network into another order: coupled channels change places together, wherever
// they occur, and so do the weights that make and read them. The network computes the same.
//
//   y = conv(x, w);  z = conv(y, v)      the filters of w in another order: those of v read them so
#pragma once

#include <string>

#include "program/channels.h"

namespace lathe {

/// A set of coupled channels in another order: what was channel order[p] becomes channel p.
struct ChannelOrder {
  ChannelSet set;
  std::vector<long> order;
};

/// Returns the graph with its channels in other orders, all at once. Weights without data stay as
/// they are: they will be drawn, and any order is as good. Fails, and says why, if channels reach
/// an input or output of the network, or if a layer in groups would have to read other channels
/// together than it does.
Graph with_order(Graph graph, const std::vector<ChannelOrder>& orders);

/// Returns what an order of a layer's filters (dimension 0 of its weight) means for the sets that
/// they belong to; those that stay in order are left out. Fails if filters would change places that
/// other layers treat differently.
std::vector<ChannelOrder> orders_of_filters(const Graph& graph, const std::vector<ChannelSet>& sets,
                                            ValueId weight, const std::vector<long>& order);

}  // namespace lathe
