// Layers that read the same, as one layer with all of their filters.
//
//   y = conv(x, v);  z = conv(x, w)   =>   a = conv(x, concat(v, w));  y = slice(a);  z = slice(a)
#pragma once

#include "graph/graph.h"

namespace lathe::passes {

/// Returns the graph with such layers, nodes of this operator, combined: those with the same
/// attributes whose weights are known before the network runs.
Graph with_parallel_combined(const Graph& graph, const std::string& op);

}  // namespace lathe::passes
