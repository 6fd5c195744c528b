// Better schedules and layouts for a network, found by measuring, as a job (search/tune.h).
//
//   TuneJobOptions options{.network = {.network = "resnet18"}};
//   set_budget(options.tune, "5m");
//   TuneReport found = tune_network(network_to_tune(options), options.tune);
//   found.own / found.tuned                    how many times as fast the network is now
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "jobs/precision.h"
#include "search/tune.h"

namespace lathe {

struct TuneJobOptions {
  NetworkArguments network;
  Precision precision = Precision::f32;  ///< of layers whose recipes do not say
  CalibrationSource calibration;
  TuneOptions tune;
};

/// Reads a budget: "90s", "10m" or "1h", or a number of candidates; "" is what is usual. Where jobs
/// are measured elsewhere, their number is what counts.
void set_budget(TuneOptions& options, const std::string& budget, bool elsewhere = false);

/// Returns the network as it will run: layers in their precisions. Warns of those that stay f32.
Graph network_to_tune(const TuneJobOptions& options, const JobListener& listener = {});

/// Opens the store of what tuning finds. Fails if there is none.
TunedStore open_tuned_store();

/// Tunes a network on this machine; what is found is kept for everything that compiles. A report
/// that was stopped has what was found by then.
TuneReport tune_network(const Graph& network, TuneOptions options,
                        const JobListener& listener = {});

/// Returns what earlier tuning found for a network, without a search.
TuneReport tuned_network(const Graph& network, const Target& target, int threads,
                         const std::string& layers = "*");

/// Where a network runs: with so many threads, or on a GPU.
struct TunedWhere {
  int threads = 1;
  std::string gpu = {};  ///< a target's name; "": none
};

/// Converts a report to JSON.
nlohmann::json to_json(const std::string& network, const TunedWhere& where,
                       const TuneReport& report);

}  // namespace lathe
