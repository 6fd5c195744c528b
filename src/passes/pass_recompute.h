// Saves memory in programs that compute gradients: some values are computed again, not kept.
//
//   y = conv(x);  b = batch_norm(y);  z = relu(b) ... d = adjoint(b, dz)      keeps y and b
//   y = conv(x);  z = relu(batch_norm(y))  ... d = adjoint(batch_norm(y), dz)  keeps y alone
//
// Element-wise values are quick to compute again where their operands are kept anyway; that also
// saves the time to write and read them. Under a budget of memory more is computed again.
#pragma once

#include <limits>

#include "graph/graph.h"

namespace lathe {

/// No limit of memory.
inline constexpr long any_memory = std::numeric_limits<long>::max();

/// Returns the most bytes of values that are alive at one time, without weights.
long peak_bytes(const Graph& graph);

/// Returns the graph with some values computed again just before late users: those whose operands
/// are alive anyway, and, while more than "budget" bytes are alive, others.
Graph recomputed(const Graph& graph, long budget);

}  // namespace lathe
