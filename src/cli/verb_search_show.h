// What a search shows: how far it is, and what came of it.
#pragma once

#include <chrono>
#include <set>
#include <string>

#include "results/search_result.h"
#include "search/layer_tables.h"

namespace lathe::cli {

/// Tells how far a search is: a line that changes on a terminal, plain lines elsewhere, events in
/// JSON if those are asked for.
class SearchTelling {
 public:
  SearchTelling(bool json, long exact);
  ~SearchTelling() { clear(); }
  SearchTelling(const SearchTelling&) = delete;
  SearchTelling& operator=(const SearchTelling&) = delete;

  /// Work on many alike things: how much is done, and how long the rest will take.
  void show(const TableProgress& progress);
  /// A network that was tried, and how many there were.
  void show(const Trial& trial, long number);
  void show_tuning(const std::string& network, double elapsed, double seconds);

  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool json_, is_terminal_, shown_ = false;
  long exact_, tried_ = 0, refused_ = 0, failed_ = 0;
  double best_ = 1, told_ = -1e9;
  std::set<std::string> told_of_;  // recipes of networks
  std::string what_;               // that is worked on,
  double since_ = 0;               // since when,
  size_t before_ = 0;              // and how much of it was done then
  Clock::time_point begin_ = Clock::now();

  std::string left(const TableProgress& progress);
  void line(const std::string& text);
  void clear();
};

/// Prints what came of a search: the answer first.
void print_result(const SearchResult& result, const std::string& folder);

}  // namespace lathe::cli
