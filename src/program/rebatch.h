// The same network for another number of samples.
//
//   Graph scored = rebatched(graph, 64);            one that was exported for a single image
#pragma once

#include "graph/graph.h"

namespace lathe {

/// Returns the network for "samples" samples: they are the first extent of its inputs, and of all
/// values that depend on them. Fails, and says where, if their number is built into the network.
Graph rebatched(Graph graph, long samples);

}  // namespace lathe
