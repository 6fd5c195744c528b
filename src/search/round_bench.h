// Networks beside the original, on a GPU that may be elsewhere. Their times are sums over their
// units, and units are measured in rounds (unit_rounds.h): each with a few choices, then those that
// matter with more. Networks that were found are measured as wholes, too.
//
//   RoundBench bench(folder, target, store, {});
//   try {
//     bench.begin(original);
//     NetworkTimes times = bench.measure(candidate);
//   } catch (const JobsWait&) {
//     RoundsWaiting waiting = bench.next_round();       somebody measures them, then all goes on
//   }
#pragma once

#include "search/equal_tuning.h"
#include "search/job_folder.h"
#include "search/unit_rounds.h"

namespace lathe {

struct RoundBenchOptions {
  uint64_t seed = 1;
  int threads = 1;
  double max_error = any_error;
  std::function<bool()> stop = nullptr;
  std::function<void(size_t done, size_t all)> progress =
      nullptr;  ///< candidates that are compiled
};

/// Jobs that wait for their results.
struct RoundsWaiting {
  int round = 0;
  size_t jobs = 0;
  bool is_new = false;  ///< were they written now?
  long bytes = 0;
  bool stopped = false;
};

class RoundBench : public NetworkMeasurer, public TunedMeasurer {
 public:
  /// Takes in what was measured. Folder and store must live as long; the store is in a file.
  RoundBench(JobFolder& folder, const Target& target, TunedStore& store, RoundBenchOptions options);

  /// Says what networks are compared with: weights must have data. Fails if the folder is of
  /// another network or target.
  void begin(const Graph& original);

  /// Returns the time of a network, by its units as they are tuned so far. Throws JobsWait if one
  /// of them was not measured; then the next round has it. Once all rounds of units are over, such
  /// a network has failed.
  NetworkTimes measure(const Graph& candidate) override;

  /// Returns the times of a whole network and of the original. Nothing: the next round has them.
  std::optional<NetworkTimes> measure(const Graph& candidate, const std::string& recipe) override;
  /// Throws JobsWait if a whole network was not measured.
  void expect_all() const;
  CompileOptions compiling() const override;

  /// Makes the jobs of the next round, or says that those of the last have no results yet. If there
  /// are none, the search goes on at once.
  RoundsWaiting next_round();
  /// Measures them, if the device is here. Returns whether it was.
  bool run();

 private:
  JobFolder& folder_;
  Target target_;
  TunedStore& store_;
  RoundBenchOptions options_;
  UnitRounds rounds_;
  const Graph* original_ = nullptr;
  std::map<std::string, std::pair<Unit, double>>
      asked_;  // units, and how often they are in networks
  std::set<std::string> unknown_;
  bool waits_ = false;  // for whole networks

  bool is_refined() const { return folder_.plan.value("refined", false); }
  bool are_over() const { return rounds_.round() >= folder_.most_rounds() - 1; }
  std::optional<double> time_of(const Unit& unit, std::string& failure);
  std::vector<NodeTime> node_times(const Graph& graph, std::string& failure);
  NetworkChecks checks_of(const Graph& graph) const;
  bool prepare_new();
  bool prepare_better();
};

}  // namespace lathe
