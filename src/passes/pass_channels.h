// What the passes about storage ask of operators.
#pragma once

#include "graph/graph.h"

namespace lathe::passes {

/// Does the node combine channels, or slide a window over each: a convolution, pooling?
bool works_on_channels(const Node& node);

/// Does the node work as well on any layout of a value with channels? So do those above,
/// element-wise operators, and concatenations of channels.
bool takes_any_layout(const Graph& graph, const Node& node);

}  // namespace lathe::passes
