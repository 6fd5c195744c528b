// Gradients of graphs: nodes that compute them, added to the graph.
//
//   Gradients g = with_gradients(graph, loss, {w, x});
//   g.graph            the graph with more nodes; ids of what was there stay
//   g.by[0]            the value that is the gradient of "loss" by w
//
// A gradient is a graph like any other: it is simplified, fused and compiled as one, and it has
// gradients itself.
#pragma once

#include "graph/graph.h"

namespace lathe {

struct Gradients {
  Graph graph;
  std::vector<ValueId> by;  ///< no_value where nothing depends on the value
};

/// Adds the gradient of the sum of all elements of "of" by each of the values "by". Fails, and
/// names the node, where there is none.
Gradients with_gradients(const Graph& graph, ValueId of, const std::vector<ValueId>& by);

/// A value and the factors of its elements: another value, which is held constant; no_value if each
/// counts once.
struct Counted {
  ValueId value, factor;
};

/// Adds the gradient of the sum of all elements of the values, each times its factor. If the values
/// are a gradient g, this is the product of the second derivatives H with the factors: with g
/// itself as the factor, it is H * g.
Gradients with_gradients(const Graph& graph, const std::vector<Counted>& of,
                         const std::vector<ValueId>& by);

}  // namespace lathe
