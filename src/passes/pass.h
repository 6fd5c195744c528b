// Passes: rewrites of a whole graph that keep what it computes. Each file X.cpp of this folder
// defines one.
//
//   Graph small = optimised(graph);
//   Graph folded = find_pass("fold_constant").run(graph);
//
// A pass is a pure function. Inputs and outputs keep their names, types and order; what it returns
// is verified.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace lathe {

struct Pass {
  std::string name;
  std::string summary;  ///< one line
  Graph (*run)(const Graph&);
};

namespace passes {
/// Returns all passes, sorted by name.
const std::vector<Pass>& all();
}  // namespace passes

/// Finds a pass by name; an unknown one gets an error that lists what there is.
const Pass& find_pass(const std::string& name);

/// Returns the graph after the passes that every network gets before it is compiled. Values take no
/// more than "memory" bytes, if computing some of them again makes that possible.
Graph optimised(const Graph& graph, long memory = std::numeric_limits<long>::max());

}  // namespace lathe
