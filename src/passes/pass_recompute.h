// Memory of a program that computes gradients: what is computed again rather than kept.
//
//   y = conv(x);  b = batch_norm(y);  z = relu(b) ... d = adjoint(b, dz)      keeps y and b
//   y = conv(x);  z = relu(batch_norm(y))  ... d = adjoint(batch_norm(y), dz)  keeps y alone
//
// Values on each element alone are quick to compute again where their operands are there anyway:
// that saves the time to write and read them, too. Under a budget more is computed again.
#pragma once

#include <limits>

#include "graph/graph.h"

namespace lathe {

/// As much memory as is wanted.
inline constexpr long any_memory = std::numeric_limits<long>::max();

/// Returns the most bytes of values that are alive at one time, without weights.
long peak_bytes(const Graph& graph);

/// Returns the graph with values computed again shortly before late users: those whose operands are
/// there anyway, and, while more than "budget" bytes are alive, those that can be made of what is.
Graph recomputed(const Graph& graph, long budget);

}  // namespace lathe
