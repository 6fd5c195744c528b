// The page about a search, written beside its journal.
#pragma once

#include <string>

namespace lathe::cli {

/// Writes the page about the search of a folder, to FOLDER/report.html unless told; returns where
/// it is.
std::string write_report(const std::string& folder, const std::string& output = "");

}  // namespace lathe::cli
