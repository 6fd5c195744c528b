// A graph made ready to be compiled: simplified, and with the storage of every value.
//
//   Graph ready = prepared(graph, 2);   // for two workers, in the usual layouts
#pragma once

#include "compile/compile.h"

namespace lathe {

/// Returns the graph whose layouts are chosen, for so many workers: after the passes that come
/// before.
Graph simplified(const Graph& graph, long workers = 1);

/// Returns a simplified graph with the storage of every value, its layouts as in "choice".
Graph stored(const Layouts& layouts, const LayoutChoice& choice);

/// Returns the graph that is compiled: after all passes, with the storage of every value chosen.
Graph prepared(const Graph& graph, long workers = 1, const LayoutChooser& layouts = nullptr);

}  // namespace lathe
