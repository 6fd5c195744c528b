// Writes the data of weights in the order in which kernels read them. That is done when a network
// is compiled, or later.
#pragma once

#include "compile/compile.h"

namespace lathe {

/// Returns the graph without the data of weights and state. Only their types are known, so no pass
/// can compute anything from their data.
Graph without_data(Graph graph);

/// Writes the data of a weight to its place among the weights.
void write(const CompiledWeight& weight, const Array& data, std::byte* weights);

/// Writes the data of all these weights. The graph has weights of the same names.
void write_all(const std::vector<CompiledWeight>& later, const Graph& graph, std::byte* weights);

}  // namespace lathe
