// How fast a network runs on a machine of this computer, as a job.
//
//   BenchResult found = bench_network({.network = {.network = "resnet18"}, .layers = true});
//   found.median(), found.rate() / 1e9             seconds of a run, GFLOP/s
//   found.layers.front().time                      of the first layer alone
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compile/machine.h"
#include "jobs/precision.h"

namespace lathe {

struct BenchJobOptions {
  NetworkArguments network;
  std::string target = "native";
  int threads = 1;
  double seconds = 2;     ///< of measuring
  bool layers = false;    ///< time each layer alone, too
  bool thorough = false;  ///< optimise the code for longer
  bool tuned = true;      ///< use what tuning found
  double max_error = any_error;
  Precision precision = Precision::f32;
  CalibrationSource calibration;
};

/// The time of a layer alone.
struct LayerTime {
  std::string name, op, schedule, recipe;
  double time = 0, flops = 0;
  /// Does it do other products than its nest has? Then their rate is that of a direct computation
  /// that would take as long, not that of the machine.
  bool is_algebraic = false;
};

struct BenchResult {
  std::string network;
  Target target;
  int threads = 1;
  std::vector<double> times;  ///< of each run, in seconds
  double compile_seconds = 0;
  double flops = 0, peak = 0;  ///< of a run; a second, of all threads, 0 on a GPU
  bool is_algebraic = false;   ///< is a layer?
  long arena_bytes = 0, live_bytes = 0, weights_bytes = 0;
  size_t kernels = 0;
  std::vector<LayerTime> layers;
  std::vector<std::string> kept;  ///< layers that stay f32, and why

  double median() const;
  /// Returns the operations a second.
  double rate() const { return flops / median(); }
};

/// Compiles and measures. Fails if it was stopped before it had measured.
BenchResult bench_network(const BenchJobOptions& options, const JobListener& listener = {});

/// What a core of this computer can do.
struct MachineFound {
  Target target;
  Machine machine;
};

/// Measures a core of this computer.
MachineFound bench_machine();

/// Convert to JSON.
nlohmann::json to_json(const BenchResult& found);
nlohmann::json to_json(const MachineFound& found);

}  // namespace lathe
