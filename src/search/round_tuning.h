// Tuning for a device that may be elsewhere: the same search as tune(), in rounds.
//
//   JobFolder folder({"jobs", "x86-64-v3"});
//   RoundOutcome outcome = tune_in_rounds(graph, target, folder, store, options);
//   if (!outcome.report) ...                    jobs wait in the folder: outcome.jobs of them
//
// Three rounds look for the choices of units: anything, then what is like the best, then that and
// the best again. The last one measures whole networks, and decides what is kept. Each call takes
// in what was measured since the last one. If the device is here, one call does it all; then there
// are as many rounds as the time allows.
#pragma once

#include "search/job_folder.h"
#include "search/tune.h"

namespace lathe {

/// What came of a call.
struct RoundOutcome {
  std::optional<TuneReport> report;  ///< nothing while jobs wait
  int round = 0;                     ///< whose jobs wait
  size_t jobs = 0;                   ///< that wait: all of the round, or those without result
  bool is_new = false;               ///< were they written by this call?
  long bytes = 0;                    ///< of the file
  bool stopped = false;
};

struct RoundTuneOptions {
  TuneOptions tune;  ///< trials: candidates in all; seconds: where the device is here
  std::function<void(int round, size_t done, size_t all)> compiled = nullptr;
  std::function<void(int round, size_t jobs)> measured = nullptr;
};

/// Tunes a graph. Fails if the folder is of another network, target or seed.
RoundOutcome tune_in_rounds(const Graph& graph, const Target& target, JobFolder& folder,
                            TunedStore& store, const RoundTuneOptions& options);

/// Returns the units that compile() makes of a graph for a GPU, node by node.
std::vector<NodeUnit> units_for(const Graph& graph, const Target& target);

/// Returns the bytes of a network's weights.
long weights_of(const Graph& graph);

}  // namespace lathe
