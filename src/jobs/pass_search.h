// The best selection and order of passes for a network, found by trying.
//
//   PassSearchOptions options{.network = {.network = "resnet50"}, .seconds = 300};
//   PassSearchResult found = search_passes(options, listener);
//   found.best.passes                                    as lathe compile --passes takes them
//
// Four ways propose sequences. The default (BL) is what every network gets. PO-x are random
// selections of all passes. AS-x are random orders of those that change this network. C-x climb:
// they change the best sequence so far in one place. Sequences that lead to the same graph are one
// candidate. Each candidate is measured in turn with the default, checked, and on record before the
// next: a search that was stopped goes on.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "jobs/network_source.h"
#include "jobs/relevance.h"
#include "search/network_bench.h"
#include "search/pass_sequences.h"

namespace lathe {

enum class PassObjective { latency, throughput, compile_time, memory, power };

/// Names an objective: "compile-time", ...
const char* name_of(PassObjective objective);
/// Finds an objective by its name.
PassObjective objective_named(const std::string& name);

struct PassSearchOptions {
  NetworkArguments network;
  PassObjective objective = PassObjective::latency;
  double seconds = 60;      ///< of searching
  std::string folder = "";  ///< of the journal; "": one in runs/
  int threads = 1;
  uint64_t seed = 1;
  bool inexact = false;  ///< try passes that change what is computed, too, within their tolerance
};

/// What is measured of a network after some passes.
struct PassMeasures {
  double seconds = 0;                           ///< of a run
  double own = 0;                               ///< of a run after the usual passes, in turn
  long bytes = 0;                               ///< of memory where it runs
  double pass_seconds = 0, kernel_seconds = 0;  ///< of compiling it with empty caches; 0: not tried
  PowerReading power;
};

/// A sequence of passes that was tried.
struct PassCandidate {
  std::string way;  ///< "BL", "PO-0", ...
  PassList passes;
  uint64_t hash = 0;    ///< of the graph that is compiled
  std::string failure;  ///< "": it was measured
  PassMeasures measures;
};

struct PassSearchResult {
  std::string folder;
  long batch = 1;
  size_t sequences = 0;                   ///< that were proposed
  std::vector<PassCandidate> candidates;  ///< one for each graph, in the order in which they came
  PassCandidate usual, best;              ///< measured again, for longer
  PassCandidate lean;                     ///< the fewest passes found that do the same as the usual
  PassCandidate all;                      ///< every pass that may run
  std::vector<std::string> sensors;       ///< that show power or temperature
  bool stopped = false;

  /// Returns how many times better than the usual passes a candidate is.
  double gain(const PassCandidate& candidate, PassObjective objective) const;
};

/// Searches. Fails if the objective is power and the machine does not show it.
PassSearchResult search_passes(const Graph& graph, const std::vector<PassRelevance>& relevance,
                               const PassSearchOptions& options, const JobListener& listener = {});

/// Reads how long to search, as in 90s or 10m; 0: not at all. Errors begin with the option's name.
double parse_pass_budget(const std::string& option, const std::string& text);

/// Converts what was found to JSON.
nlohmann::json to_json(const PassSearchResult& found, const PassSearchOptions& options);

}  // namespace lathe
