// Candidates and networks measured on this machine, in processes of their own.
#pragma once

#include "search/tune.h"

namespace lathe {

/// Returns a bench for the graph and its units. Every weight must have data.
std::unique_ptr<TuneBench> native_bench(const Graph& graph, const Target& target, int threads);

}  // namespace lathe
