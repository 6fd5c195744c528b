// The page about a search, written beside its journal.
#pragma once

#include <string>

#include "graph/graph.h"

namespace lathe {

/// Writes the page about the search of a folder, to FOLDER/report.html unless told; returns where
/// it is. The network that was searched is loaded as the bundle says, or by its name, unless it is
/// given; where it is gone, the page says why it shows less.
std::string write_report(const std::string& folder, const std::string& output = "",
                         const Graph* network = nullptr);

}  // namespace lathe
