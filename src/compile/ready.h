// Makes a graph ready to be compiled: simplifies it, and chooses where every value is stored.
//
//   Graph ready = ready_to_compile(graph, {.workers = 2});   // in the usual layouts
#pragma once

#include "compile/compile.h"

namespace lathe {

/// Returns the graph after the usual passes that come before layouts are chosen.
Graph simplified(const Graph& graph, const PassContext& context = {});

/// Returns a simplified graph with the storage of every value. Its layouts are those of "choice".
Graph stored(const Layouts& layouts, const LayoutChoice& choice);

/// Returns the graph that is compiled: after all passes, with the storage of every value. What code
/// needs is done even if the passes do not have it (OwnOutputs).
Graph ready_to_compile(const Graph& graph, const PassContext& context = {},
                       std::vector<std::string> passes = usual_passes());

/// Returns what passes may know, as these options say it.
PassContext context_of(const CompileOptions& options);

}  // namespace lathe
