// Where the values of a graph lie, once their storage is chosen.
#pragma once

#include "codegen/layout.h"
#include "graph/graph.h"

namespace lathe {

/// Is the value there before the network runs: a weight, state or a constant?
bool has_data(const Value& value);

/// Has the value any elements?
bool is_there(const Graph& graph, ValueId id);

/// Returns the value whose buffer a value lies in: that of the whole it is a part of.
ValueId root_of(const Graph& graph, ValueId id);

/// Returns where the elements of a value lie in the buffer of its root.
Layout layout_of(const Graph& graph, ValueId id);

}  // namespace lathe
