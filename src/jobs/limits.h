// Limits of a search that are checked, before it and after it.
#pragma once

#include "results/search_result.h"
#include "strategies/strategy.h"

namespace lathe {

/// Returns the least weights, and MACs, that a network of a space can have.
long least_weights(const NetworkSpace& space);
long least_macs(const NetworkSpace& space);

/// Fails if no network of a space has as few weights, or as few MACs, as the limits ask for: says
/// which limit, and by how much it is missed.
void check_reachable(const NetworkLimits& limits, const NetworkSpace& space);

/// Fails if what cannot change takes longer than a run may; "rest" and "all" are seconds of the
/// original.
void check_reachable(const NetworkLimits& limits, double rest, double all);

/// Does the original keep all limits, among them one of the time?
bool is_kept_by_original(const NetworkLimits& limits, const NetworkSpace& space, double seconds);

/// Returns the limits that were set, and how the result stands to them. Where nothing was found,
/// what was reached is the least that could be chosen; of times, the fastest network that was
/// measured and passed the gate, if there is one ("fastest", in seconds; else infinite).
std::vector<ResultLimit> limits_reached(const StrategyInput& input, const SearchResult& result,
                                        double fastest);

}  // namespace lathe
