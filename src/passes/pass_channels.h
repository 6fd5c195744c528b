// What passes about storage need to know of operators.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace lathe::passes {

/// Returns the operand whose channels the node sums over: the data of a convolution that is not
/// depthwise. It is worth a copy to have its channels side by side.
std::optional<size_t> summed_operand(const Graph& graph, const Node& node);
bool sums_channels(const Graph& graph, const Node& node);

/// Returns into how many groups the convolution that a node computes divides channels; 1 if it
/// computes none.
long groups_of(const Graph& graph, const Node& node);

/// Is dimension 1 of what the node computes its channels? In the gradient of a weight it is not.
bool has_channels(const Graph& graph, const Node& node);

/// Returns the operands whose dimension 1 is not the channels of what the node computes: the
/// weights of a convolution, and what it sums over.
std::vector<size_t> operands_apart(const Graph& graph, const Node& node);

/// Does the node slide windows with weights over each channel alone? A depthwise convolution does,
/// also if it is fused with what it reads.
bool walks_channels(const Graph& graph, const Node& node);

/// Does the node work equally well on every layout of a value with channels? These do:
/// convolutions, pooling, element-wise operators, concatenations of channels, sums that keep
/// channels apart, what only chooses elements, and the gradients of all these, of any order.
bool takes_any_layout(const Graph& graph, const Node& node);

}  // namespace lathe::passes
