// What became of a network, or of one of its layers, in a search: read from the result.json of its
// folder, which "lathe optimize" writes at its end.
#pragma once

#include <string>

#include "nest/nest.h"

namespace lathe::cli {

/// Prints what was done to each layer of a network, what it saved, and what was refused and why.
int print_run(const std::string& folder, bool json);

/// Prints what one layer could have become, what came of each of that, and the loops before and
/// after.
int print_layer(const std::string& folder, const std::string& layer, bool json);

/// Prints the loops of a nest and its cost; "remark" follows.
void print_state(const Nest& nest, const std::string& remark);

}  // namespace lathe::cli
