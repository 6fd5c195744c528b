// Makes the result of a search from what the search reports.
#pragma once

#include "results/search_result.h"
#include "strategies/strategy_run.h"

namespace lathe {

/// Returns what families contribute to the winner of a search, by its tables.
std::vector<ResultFamilies> families_of(const StrategyInput& input, const Assignment& winner);

/// Returns the winner (the original, if nothing faster passed), its layers, what each kind of layer
/// could become, and the networks that no other is better than. The caller adds the command, and
/// what was measured after the search.
SearchResult summarised(const StrategyInput& input, const SearchReport& report,
                        const Journal& journal);

/// Returns what a search over the list of blocks found; "way" says how it chose.
ResultBaseline baseline_of(const StrategyInput& input, const SearchReport& report,
                           const std::string& way);

/// Returns how many variants a layer can choose from, at most.
long most_variants(const NetworkSpace& space);

/// Returns the points that no other point beats in time, predicted accuracy and weights at once;
/// the fastest comes first. Times are relative to the original's in the same run.
std::vector<ResultPoint> not_dominated(std::vector<ResultPoint> points);

}  // namespace lathe
