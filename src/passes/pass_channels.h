// What the passes about storage ask of operators.
#pragma once

#include "graph/graph.h"

namespace lathe::passes {

/// Is the node a convolution, alone or with what follows it?
bool is_convolution(const Node& node);

/// Does the node sum over channels: a convolution that is not depthwise? Then vectors of channels
/// are worth a copy.
bool sums_channels(const Graph& graph, const Node& node);

/// Does the node slide windows over each channel alone, with weights: a depthwise convolution,
/// maybe of what it computes itself?
bool walks_channels(const Graph& graph, const Node& node);

/// Does the node work as well on any layout of a value with channels? So do
/// convolutions, pooling, element-wise operators, and concatenations of channels.
bool takes_any_layout(const Graph& graph, const Node& node);

}  // namespace lathe::passes
