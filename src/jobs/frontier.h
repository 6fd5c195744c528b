// A frontier: from a trained network, several that are faster by more and more, for more and more
// accuracy that may be lost.
//
//   FrontierOptions options{.search = {.score = {...}, .folder = "run"}, .points = 6};
//   FrontierResult found = find_frontier(options, listener);
//   found.points[2].result.winner.ms            run/3 holds that search, run/3/bundle its network
//
// Layers are measured and looked at once. Each point is a search of its own, with its folder. The
// same command goes on with a frontier that was stopped: what its searches measured is in their
// journals.
#pragma once

#include "jobs/optimize.h"

namespace lathe {

struct FrontierOptions {
  OptimizeOptions search;  ///< its tolerance is not read
  long points = 6;
  double least = 0.25, most = 3;  ///< points of accuracy that may be lost, as predicted
};

/// One network of a frontier.
struct FrontierPoint {
  double tolerance = 0;
  std::string folder;
  SearchResult result;
};

struct FrontierResult {
  std::string folder;
  bool stopped = false;
  std::vector<FrontierPoint> points;  ///< those that are done
};

/// Returns how much may be lost at each point: evenly many times more.
std::vector<double> frontier_tolerances(const FrontierOptions& options);

/// Searches all points, and writes frontier.json and frontier.svg into the folder after each.
FrontierResult find_frontier(const FrontierOptions& options, const JobListener& listener = {});

}  // namespace lathe
