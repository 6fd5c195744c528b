// Takes channels out of a network: coupled channels shrink together, wherever they occur.
//
//   y = conv(x, w);  z = add(y, u)      half the filters of w: half the channels of y, u and z, and
//                                       of all weights that make u or read z
#pragma once

#include "program/channels.h"

namespace lathe {

/// A set of coupled channels, and how many of them are left.
struct FewerChannels {
  ChannelSet set;
  long left;
};

/// Returns the elements of a member of the set that stay.
std::vector<long> elements_left(const FewerChannels& cut, const ChannelRange& member);

/// Returns the graph with fewer channels. The first channels stay; if there are groups, the first
/// ones of every group. Values and nodes keep their ids and names, and weights keep the data of
/// what stays. Fails, and says why, if channels reach the network's input or output, if the groups
/// do not divide them, or if an operator fixes their number.
Graph with_fewer(Graph graph, const std::vector<FewerChannels>& cuts);

}  // namespace lathe
