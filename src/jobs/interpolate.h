// Networks between two networks as a job: what each takes and what it keeps. Figure 9 of the paper.
//
//   InterpolateOptions options{.score = {.network = {.network = "resnet20-cifar"}},
//                              .first = parse_recipe("group(2)"),
//                              .second = parse_recipe("group(4)")};
//   for (const InterpolatedNetwork& network : interpolate(options)) ...
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "capacity/gate.h"
#include "jobs/event.h"
#include "jobs/scoring.h"
#include "report/plot.h"
#include "search/interpolation.h"
#include "search/network_bench.h"

namespace lathe {

struct InterpolateOptions {
  ScoreArguments score{.samples = 32, .seeds = 2};
  Recipe first, second;
  InterpolationOptions between;
  GateRule rule = find_rule("two-sided");  ///< that predicts the accuracy
  double seconds = 1;                      ///< of measuring each network
  int threads = 1;                         ///< that networks run with
};

/// A network of the row, and what is known of it.
struct InterpolatedNetwork {
  Between between;
  long macs = 0, weights = 0;
  NetworkTimes times;
  GateVerdict verdict;
  bool is_best = false;  ///< no other is both faster and expected to be as accurate

  /// Returns the points that are predicted, to order networks by; 0 where a rule predicts nothing.
  double points() const { return verdict.predicted ? verdict.predicted->points : 0; }
  /// Returns how many times as fast as the original it is.
  double speed_up() const { return times.own / times.time; }
};

/// What the recipes of both ends are called.
struct InterpolationEnds {
  std::string first, second;
};

/// Names a network of the row: "filters 50 % group(4)".
std::string name_of(const Between& between, const InterpolationEnds& ends);

/// Converts a network of the row to JSON.
nlohmann::json to_json(const InterpolatedNetwork& network, const InterpolationEnds& ends);

/// Draws what is expected of each network over its time.
Plot picture_of(const InterpolateOptions& options, const InterpolationEnds& ends,
                const std::vector<InterpolatedNetwork>& networks);

/// Measures and judges every network of the row. One that was stopped ends with what it has.
std::vector<InterpolatedNetwork> interpolate(const InterpolateOptions& options,
                                             const JobListener& listener = {});

}  // namespace lathe
