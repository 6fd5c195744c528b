// Fewer channels: coupled channels shrink together, wherever they have a part.
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

/// Returns the graph with fewer channels: the first ones, of every group where they are in groups.
/// Values and nodes keep their numbers and names, weights what is left of their data. Fails, and
/// says why, where channels reach the network's input or output, do not divide by the groups, or
/// are counted by an operator.
Graph with_fewer(Graph graph, const std::vector<FewerChannels>& cuts);

}  // namespace lathe
