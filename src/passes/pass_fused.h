// Nodes that become one.
#pragma once

#include "ops/op_fused.h"

namespace lathe::passes {

/// Returns the calls that a node is made of: itself, or those of a fused one.
std::vector<ops::TypedPart> calls_of(const Graph& graph, const Node& node);

/// Returns the node "fused" that computes these nodes in sequence; it has the name of the first.
/// Only these nodes may read the results of all but the last.
Node fused_node(const Graph& graph, const std::vector<size_t>& chain);
Node fused_node(const Graph& graph, const std::vector<const Node*>& chain);

/// Returns the first call of a node that computes something: those before it choose elements of
/// operands. Its sources that are such views are replaced by the operands.
ops::TypedPart first_computed(const Graph& graph, const Node& node);

}  // namespace lathe::passes
