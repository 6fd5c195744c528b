// Networks between two networks as a job: what each takes and what it keeps. Figure 9 of the paper.
//
//   InterpolateOptions options{.score = {.network = {.network = "resnet20-cifar"}},
//                              .first = parse_recipe("group(2)"),
//                              .second = parse_recipe("group(4)")};
//   for (const InterpolatedNetwork& network : interpolate(options)) ...
#pragma once

#include "capacity/gate.h"
#include "jobs/event.h"
#include "jobs/scoring.h"
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

/// Measures and judges every network of the row. One that was stopped ends with what it has.
std::vector<InterpolatedNetwork> interpolate(const InterpolateOptions& options,
                                             const JobListener& listener = {});

}  // namespace lathe
