// From a nest back to operators of a graph. So a layer that neural steps changed can be exported,
// with standard operators only.
//
//   O[0, 2*g + co, oh, ow] += W[2*g + co, 2*g + ci, kh, kw] * I[0, 2*g + ci, oh + kh, ow + kw]
//
// is a convolution in groups. With other accesses it is a convolution of some channels or rows. The
// results of several statements are joined by concat, take and add. The accesses tell all of it;
// the steps are not looked at. The weights are the elements that the accesses touch.
#pragma once

#include "nest/nest.h"
#include "ops/op_graph.h"

namespace lathe {

/// A node of a graph, and the nest that is to compute it. Neural steps made this nest of the node's
/// own nest. It has the shapes of the node's outputs.
struct LayerNest {
  size_t node;
  Nest nest;
};

/// Returns the graph in which other nests compute these layers. Weights keep their names, and their
/// data if they have any. If a weight becomes several, the first part keeps the name and the others
/// get numbers behind it. Fails, and says why, if a nest has no form in standard operators.
Graph with_nests(const Graph& graph, const std::vector<LayerNest>& layers);

/// Does the same for one layer.
Graph with_nest(const Graph& graph, size_t node, const Nest& nest);

}  // namespace lathe
