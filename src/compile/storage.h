// Tells where the values of a graph lie. Their storage must be chosen already.
#pragma once

#include "codegen/layout.h"
#include "graph/graph.h"

namespace lathe {

/// Does the value exist before the network runs: is it a weight, state or a constant?
bool has_data(const Value& value);

/// Does the value have any elements?
bool is_there(const Graph& graph, ValueId id);

/// Returns the root of a value: the value that owns its buffer. A part of a larger value lies in
/// the buffer of that.
ValueId root_of(const Graph& graph, ValueId id);

/// Returns where the elements of a value lie in the buffer of its root.
Layout layout_of(const Graph& graph, ValueId id);

}  // namespace lathe
