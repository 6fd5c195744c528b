// The data of weights as kernels read them: written when a network is compiled, or later.
#pragma once

#include "compile/compile.h"

namespace lathe {

/// Returns the graph with weights and state of which nothing is known but the types: no pass can
/// compute anything from their data.
Graph without_data(Graph graph);

/// Writes a weight's data to its place among the weights.
void write(const CompiledWeight& weight, const Array& data, std::byte* weights);

/// Writes all these weights; the graph has them by their names.
void write_all(const std::vector<CompiledWeight>& later, const Graph& graph, std::byte* weights);

}  // namespace lathe
