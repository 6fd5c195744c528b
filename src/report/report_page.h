// The page about a search: what was found, where the time went, what was tried, how to repeat it.
//
//   SearchResult result = read_search_result("runs/r34");
//   JournalRecord journal = read_journal("runs/r34");
//   print_report({result, journal, "runs/r34", &graph})          one HTML file, complete in itself
//
// It is the same for the same files, needs no script and no network, and follows the reader's
// choice of light or dark.
#pragma once

#include <string>

#include "graph/graph.h"
#include "results/search_result.h"
#include "search/journal.h"

namespace lathe {

/// What a page is made of.
struct ReportInput {
  const SearchResult& result;
  const JournalRecord& journal;
  std::string folder;              ///< of the search, as commands name it
  const Graph* network = nullptr;  ///< as it was, to show its loops; null: it could not be loaded
  std::string remark = {};         ///< why it could not
};

std::string print_report(const ReportInput& input);

}  // namespace lathe
