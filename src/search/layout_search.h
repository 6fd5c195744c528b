// The layouts of a network, chosen by measuring: each unit in the layouts that it could have, then
// the least sum over the whole graph.
#pragma once

#include "search/layout_space.h"
#include "search/tune.h"

namespace lathe {

/// How much may be measured.
struct LayoutBudget {
  double until = 0;  ///< of the bench's clock; 0: no limit
  long trials = 0;   ///< 0: no limit
  std::function<bool()> stop = nullptr;
  std::function<void(size_t, size_t)> progress = nullptr;
};

/// Returns the layouts whose times are least together; nothing if the usual ones are as good.
/// "times" are those of the nodes in the usual layouts, as the templates choose. What was measured
/// before is in the store; what there is no time for keeps its layout.
std::optional<LayoutChoice> search_layouts(const LayoutSpace& space,
                                           const std::map<std::string, double>& times,
                                           const TunedFor& network, TuneBench& bench,
                                           TunedStore& store, const LayoutBudget& budget);

}  // namespace lathe
