// A graph made ready to be compiled: simplified, and with the storage of every value.
//
//   Graph ready = ready_to_compile(graph, 2);   // for two workers, in the usual layouts
#pragma once

#include "compile/compile.h"

namespace lathe {

/// Returns the graph whose layouts are chosen, for so many workers: after the passes that come
/// before. "memory" is as optimised() has it.
Graph simplified(const Graph& graph, long workers = 1, long memory = any_memory);

/// Returns a simplified graph with the storage of every value, its layouts as in "choice".
Graph stored(const Layouts& layouts, const LayoutChoice& choice);

/// Returns the graph that is compiled: after all passes, with the storage of every value chosen.
Graph ready_to_compile(const Graph& graph, long workers = 1, const LayoutChooser& layouts = nullptr,
                       long memory = any_memory);

}  // namespace lathe
