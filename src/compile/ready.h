// Makes a graph ready to be compiled: simplifies it, and chooses where every value is stored.
//
//   Graph ready = ready_to_compile(graph, 2);   // for two workers, in the usual layouts
#pragma once

#include "compile/compile.h"

namespace lathe {

/// Returns the graph after the passes that come before layouts are chosen, for so many workers.
/// "memory" means the same as for optimised().
Graph simplified(const Graph& graph, long workers = 1, long memory = any_memory);

/// Returns a simplified graph with the storage of every value. Its layouts are those of "choice".
Graph stored(const Layouts& layouts, const LayoutChoice& choice);

/// Returns the graph that is compiled: after all passes, with the storage of every value.
Graph ready_to_compile(const Graph& graph, long workers = 1, const LayoutChooser& layouts = nullptr,
                       long memory = any_memory);

}  // namespace lathe
