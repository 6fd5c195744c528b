// A layer of a network as a network of its own.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace lathe {

/// Returns a node, and the normalisation behind it if one is given, as a network that reads what
/// the node reads. Weights have the names that they had.
Graph layer_alone(const Graph& graph, size_t layer, std::optional<size_t> norm = std::nullopt);

}  // namespace lathe
