// Chooses the layouts of a network by measuring.
//
// First each unit is measured with one class of its values in another layout. Then the layouts with
// the least sum of times over the whole graph are found. Units in that sum that were not measured
// are measured now, and the least sum is found again, until all its units are known. A time that is
// not known yet is taken to be as good as it may be: two changes gain what each gains alone, and
// copies cost nothing. So no other layouts have a smaller sum than those that are found at the end.
#pragma once

#include "search/layout_space.h"
#include "search/tune.h"

namespace lathe {

/// How much may be measured.
struct LayoutBudget {
  double until = 0;  ///< seconds on the bench's clock; 0: no limit
  long trials = 0;   ///< 0: no limit
  std::function<bool()> stop = nullptr;
  std::function<void(long)> progress = nullptr;  ///< told how many units were measured
};

/// Returns the layouts with the least sum of times; nothing if the usual ones are as good. "times"
/// has the time of each node in the usual layouts, with the schedules that the templates choose.
/// What the store knows is not measured again. If the budget is spent, the remaining values keep
/// their layout.
std::optional<LayoutChoice> search_layouts(const LayoutSpace& space,
                                           const std::map<std::string, double>& times,
                                           const TunedFor& network, TuneBench& bench,
                                           TunedStore& store, const LayoutBudget& budget);

}  // namespace lathe
