// Coupled channels: which parts of which tensors must shrink together when a layer loses channels.
//
//   y = conv(x, w);  z = add(y, u)      the filters of w, the channels of y, of u and of z
//
// No operator is a special case: its nest says which index of one tensor goes with which index of
// another. That covers residual adds, concatenations, normalisations and the flattening before a
// fully connected layer.
#pragma once

#include <string>

#include "graph/graph.h"

namespace lathe {

/// Elements of one dimension of a value: nearly always "first" to "first + count - 1".
struct ChannelRange {
  ValueId value;
  size_t dimension;
  long first, count;
  /// All of them: those of the first channel, of the second one, ... Where they count inside
  /// groups, those of a group.
  std::vector<long> elements;
};

/// Channels that change together. Every member has a part for each channel. It may have as many
/// elements as there are channels, a multiple of that (a flattened channel is several columns), or
/// a fraction (the weights of a convolution in groups count the inputs of one group).
struct ChannelSet {
  long channels;
  long multiple = 1;   ///< by which the channels must stay divisible: groups that split them
  bool fixed = false;  ///< do they reach an input or output of the network?
  std::vector<ChannelRange> members;
  std::string why = "";  ///< they are fixed: "input 'x'", "output 'y'"
};

/// Finds the sets of channels that occur in weights, in the order of the graph's values.
std::vector<ChannelSet> channel_sets(const Graph& graph);

}  // namespace lathe
