// What the passes about storage ask of operators.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace lathe::passes {

/// Returns the operand whose channels the node sums over: what a convolution that is not depthwise
/// convolves. Vectors of its channels are worth a copy.
std::optional<size_t> summed_operand(const Graph& graph, const Node& node);
bool sums_channels(const Graph& graph, const Node& node);

/// Is dimension 1 of what the node computes its channels? Not of the gradient of a weight.
bool has_channels(const Graph& graph, const Node& node);

/// Returns the operands whose dimension 1 is not the channels of what the node computes: the
/// weights of a convolution, and what it sums over.
std::vector<size_t> operands_apart(const Graph& graph, const Node& node);

/// Does the node slide windows over each channel alone, with weights: a depthwise convolution,
/// maybe of what it computes itself?
bool walks_channels(const Graph& graph, const Node& node);

/// Does the node work as well on any layout of a value with channels? So do
/// convolutions, pooling, element-wise operators, concatenations of channels, and the gradients of
/// all these, of any order; sums that leave channels apart.
bool takes_any_layout(const Graph& graph, const Node& node);

}  // namespace lathe::passes
