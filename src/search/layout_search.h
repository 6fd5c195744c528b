// The layouts of a network, chosen by measuring: what each unit takes if one class of values lies
// otherwise; then, again and again, the least sum over the whole graph, with hope for what is not
// known, and what that sum still lacks. Hope is that two changes gain what each does alone, and
// that copies cost nothing: the sum that is found is the least of what was measured.
#pragma once

#include "search/layout_space.h"
#include "search/tune.h"

namespace lathe {

/// How much may be measured.
struct LayoutBudget {
  double until = 0;  ///< of the bench's clock; 0: no limit
  long trials = 0;   ///< 0: no limit
  std::function<bool()> stop = nullptr;
  std::function<void(long)> progress = nullptr;  ///< told how many units were measured
};

/// Returns the layouts whose times are least together; nothing if the usual ones are as good.
/// "times" are those of the nodes in the usual layouts, as the templates choose. What was measured
/// before is in the store; what there is no time for keeps its layout.
std::optional<LayoutChoice> search_layouts(const LayoutSpace& space,
                                           const std::map<std::string, double>& times,
                                           const TunedFor& network, TuneBench& bench,
                                           TunedStore& store, const LayoutBudget& budget);

}  // namespace lathe
