// Precisions near to a choice, each tried in the network as it runs.
//
// Tables say how long a layer takes between neighbours of its own precision. Where neighbours
// differ, numbers are converted, and what that takes depends on both. So after another strategy has
// ended, its best network is tried with every layer in one precision, then with all layers of a
// kind in another one, kind by kind; what is faster is kept.
#pragma once

#include "strategies/strategy.h"

namespace lathe {

/// Can layers of the space be of several precisions?
bool has_precisions(const NetworkSpace& space);

/// Returns a searcher that tries what "first" proposes, then other precisions of the best of that.
std::unique_ptr<Searcher> then_precisions(const StrategyInput& input,
                                          std::unique_ptr<Searcher> first);

}  // namespace lathe
