// From a nest back to operators of a graph: how a layer that neural steps changed is exported, with
// standard operators only.
//
//   O[0, 2*g + co, oh, ow] += W[2*g + co, 2*g + ci, kh, kw] * I[0, 2*g + ci, oh + kh, ow + kw]
//
// is a convolution in groups; with other accesses it is a convolution of some channels or rows,
// and what several statements compute is put together by concat, take and add. Nothing is known of
// the steps: the accesses say it all, and the weights are those elements that they touch.
#pragma once

#include "nest/nest.h"
#include "ops/op_graph.h"

namespace lathe {

/// Returns the graph with "node" computed by "nest", which neural steps made of the node's own nest
/// and which has its outputs' shapes. Weights keep their data where there are any. Fails, and says
/// why, where the nest has no form in standard operators.
Graph with_nest(const Graph& graph, size_t node, const Nest& nest);

}  // namespace lathe
