// What a search shows: how far it is, and what came of it.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "jobs/event.h"
#include "results/search_result.h"

namespace lathe::cli {

/// Tells how far a search is: a line that changes on a terminal, plain lines elsewhere, events in
/// JSON if those are asked for.
class SearchTelling {
 public:
  SearchTelling(bool json, long exact);
  ~SearchTelling() { clear(); }
  SearchTelling(const SearchTelling&) = delete;
  SearchTelling& operator=(const SearchTelling&) = delete;

  void show(const JobEvent& event);

 private:
  using Clock = std::chrono::steady_clock;
  bool json_, is_terminal_, shown_ = false;
  long exact_;
  /// What came of the networks of one strategy.
  struct Counts {
    long refused = 0, failed = 0;
    double best = 1;
    std::set<std::string> exact;  // recipes: a strategy that draws may draw one that was tried
  };
  std::map<std::string, Counts> counts_;  // by strategy
  double told_ = -1e9;
  std::string what_;   // that is worked on,
  double since_ = 0;   // since when,
  size_t before_ = 0;  // and how much of it was done then
  Clock::time_point begin_ = Clock::now();

  double seconds() const;
  void show_event(const WorkDone& work);
  void show_event(const NetworkTried& tried);
  void show_event(const TuningGoesOn& tuning);
  void show_event(const JobWarning& warning);
  std::string left(const WorkDone& work);
  void line(const std::string& text);
  void clear();
};

/// Prints that a search was stopped before it could say anything.
void print_stopped(bool json);

/// Prints what came of a search: the answer first.
void print_result(const SearchResult& result, const std::string& folder);

}  // namespace lathe::cli
