// Options that searches have: the network and its data, the space, how much is measured.
#pragma once

#include "calls/call_options.h"
#include "jobs/amount.h"
#include "jobs/optimize.h"

namespace lathe {

/// Reads which layers may change, and into what: include, exclude, pointwise, narrow, neural,
/// families, without.
SpaceOptions space_options(Options& options, SpaceOptions usual = {});

/// Reads what searches for one network and for several have in common: work_dir, variants, exact,
/// tune, threads, against, lathe, command; and what data_options() and space_options() read.
OptimizeOptions search_options(Options& options);

}  // namespace lathe
