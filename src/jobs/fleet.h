// A network for several kinds of machines: one winner for each, from one scoring.
//
//   for (const OptimizeResult& found : optimize_fleet(options, {"old", "new"}, listener)) ...
#pragma once

#include "jobs/optimize.h"

namespace lathe {

/// Searches for each kind of machine, as workers name them, in a folder of its own: FOLDER/KIND.
/// What layers score is found out once; each kind has its own table of times. A search that is
/// stopped is the last one.
std::vector<OptimizeResult> optimize_fleet(const OptimizeOptions& options,
                                           const std::vector<std::string>& machines,
                                           const JobListener& listener = {});

}  // namespace lathe
