// Options that searches have: the network and its data, the space, how much is measured.
#pragma once

#include "calls/call_options.h"
#include "jobs/amount.h"
#include "jobs/optimize.h"

namespace lathe {

/// Reads what searches for one network and for several have in common: work_dir, variants, include,
/// exclude, pointwise, narrow, families, without, neural, exact, tune, threads, against, lathe,
/// command; and what data_options() reads.
OptimizeOptions search_options(Options& options);

}  // namespace lathe
