// What a search of passes tells and finds, shown.
#pragma once

#include "jobs/pass_search.h"

namespace lathe::cli {

/// Returns who listens to a search: each candidate is a line on the terminal's error output.
JobListener telling_of_passes();

/// Prints what was found.
void print_pass_search(const PassSearchResult& found, const PassSearchOptions& options);

}  // namespace lathe::cli
