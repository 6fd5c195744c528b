// Products of an image with one number for each channel, which the weights of a convolution can
// take.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace lathe::passes {

/// A product: what is scaled, and by what.
struct Scaling {
  ValueId image, scale;
};

/// Returns the scaling that a node computes, if it is one of an image, channel by channel, by
/// numbers that are known before the network runs.
std::optional<Scaling> scaling_of(const Graph& graph, const Node& node);

/// Can the weights of a convolution take factors? Weights of a narrower type than the sums would
/// lose digits or overflow; padding that holds something would need a factor, too.
bool takes_factors(const Graph& graph, const Node& conv);

}  // namespace lathe::passes
