// The same network for another number of samples.
//
//   Graph scored = rebatched(graph, 64);            one that was exported for a single image
#pragma once

#include "graph/graph.h"

namespace lathe {

/// Returns the network with "samples" as the first extent of its inputs and of all values that
/// depend on it. Fails, and says where, if the number of samples is built into the network.
Graph rebatched(Graph graph, long samples);

}  // namespace lathe
