// Which passes change a graph, alone or after others: found by running them.
//
//   for (const PassRelevance& each : relevance_of(graph, {})) ...
//   each.alone                           SimplifyInference changes it as it is
//   each.after                           {"SimplifyInference"}: CombineParallelConv2D does then
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "jobs/event.h"
#include "passes/pass.h"

namespace lathe {

struct PassRelevance {
  std::string pass;
  bool alone = false;              ///< does it change the graph as it is?
  std::vector<std::string> after;  ///< if not: the passes after each of which it does
  /// If none: does it change the graph after all of the usual passes that come before it, or, if it
  /// is none of these, after all that come before storage is chosen?
  bool after_all = false;
  size_t nodes_before = 0, nodes_after = 0;  ///< of the graph that it changes first

  bool is_relevant() const { return alone || !after.empty() || after_all; }
};

/// Returns what is found of each pass, in the order of passes::all(). A graph counts as changed if
/// its written_hash() did. Passes that add outputs are not tried: what they leave is another
/// network.
std::vector<PassRelevance> relevance_of(const Graph& graph, const PassContext& context,
                                        const JobListener& listener = {});

/// Converts what was found to JSON.
nlohmann::json to_json(const std::vector<PassRelevance>& found);

}  // namespace lathe
