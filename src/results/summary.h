// What came of a search, put together for people and files.
#pragma once

#include "results/search_result.h"
#include "strategies/strategy_run.h"

namespace lathe {

/// Returns what a search says of itself: the winner (the original, if nothing faster passed), its
/// layers, what each kind of layer could become, and the networks that no other is better than. Who
/// it was for, and what was measured after it, is for the caller to set.
SearchResult summarised(const StrategyInput& input, const SearchReport& report,
                        const Journal& journal);

/// Returns what a search in the list of blocks came to; "way" says how it chose.
ResultBaseline baseline_of(const StrategyInput& input, const SearchReport& report,
                           const std::string& way);

/// Returns how many variants a layer can choose from, at most.
long most_variants(const NetworkSpace& space);

/// Returns those that no other is better than in all of time, predicted accuracy and weights, the
/// fastest first. Times are relative to the original's in the same run.
std::vector<ResultPoint> not_dominated(std::vector<ResultPoint> points);

}  // namespace lathe
