// Nodes of a network as a network of their own.
//
//   Graph layer = alone(network, {conv, norm});                  reads what the convolution reads
//   Graph node = alone(network, {conv}, AloneNames::plain);      equal ones are equal graphs
#pragma once

#include <optional>

#include "graph/graph.h"

namespace lathe {

enum class AloneNames {
  own,    ///< values and nodes have the names that they had
  plain,  ///< they are numbered
};

/// Returns nodes, of which each reads what those before it compute or what the network gives them.
/// All that the last one computes is its output.
Graph alone(const Graph& graph, const std::vector<size_t>& nodes,
            AloneNames names = AloneNames::own);

/// Returns the batch normalisation that alone reads what a node computes, if one does. "readers" is
/// consumers() of the graph.
std::optional<size_t> norm_behind(const Graph& graph,
                                  const std::vector<std::vector<size_t>>& readers,
                                  const Node& node);

}  // namespace lathe
