// Coupled channels: which parts of which tensors must change together when a layer gets fewer.
//
//   y = conv(x, w);  z = add(y, u)      the filters of w, the channels of y, of u and of z
//
// Nothing is known of any operator: an operator's nest says which index of one tensor goes with
// which of another. A residual add, a concatenation, a normalisation and the flattening before a
// fully connected layer all follow.
#pragma once

#include "graph/graph.h"

namespace lathe {

/// Elements "first" to "first + count - 1" of one dimension of a value.
struct ChannelRange {
  ValueId value;
  size_t dimension;
  long first, count;
};

/// Channels that change together. Every member has a part for each channel: as many elements, a
/// multiple (a channel that was flattened is several columns), or a fraction (the weights of a
/// convolution in groups count the inputs of one group).
struct ChannelSet {
  long channels;
  long multiple = 1;   ///< groups that the channels are split into somewhere: they stay divisible
  bool fixed = false;  ///< do they reach an input or output of the network?
  std::vector<ChannelRange> members;
};

/// Finds the sets of channels that weights have a part in, in the order of the graph's values.
std::vector<ChannelSet> channel_sets(const Graph& graph);

}  // namespace lathe
