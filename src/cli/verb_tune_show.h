// What tuning found, for people and machines.
#pragma once

#include "jobs/tune.h"

namespace lathe::cli {

enum class Print { text, json };

/// Prints a report, at most 80 columns wide.
void print_tuned(const std::string& network, const TunedWhere& where, const TuneReport& report,
                 Print how);

/// Returns the name of the first node, and how many more there are, in so many columns.
std::string name_of_nodes(const std::vector<std::string>& nodes, size_t width);

}  // namespace lathe::cli
