// Chooses the layouts of a network by measuring.
//
// First each unit is measured with one class of its values in another layout. Then the layouts with
// the least sum of times over the whole graph are found, the units that this sum lacks are
// measured, and so on until it lacks none. A time that is not known yet is taken to be as good as
// it may be: two changes gain what each gains alone, and copies cost nothing. So the layouts that
// are found at the end have the least sum of all, measured throughout.
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
/// "times" are those of the nodes in the usual layouts, with the schedules that the templates
/// choose. What the store knows is not measured again. Values for which no time is left keep their
/// layout.
std::optional<LayoutChoice> search_layouts(const LayoutSpace& space,
                                           const std::map<std::string, double>& times,
                                           const TunedFor& network, TuneBench& bench,
                                           TunedStore& store, const LayoutBudget& budget);

}  // namespace lathe
