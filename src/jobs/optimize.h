// A search as a whole: from a network to a faster one that keeps its capacity, with its bundle.
//
//   OptimizeOptions options{.score = {.network = {.network = "resnet20-cifar"}}};
//   OptimizeResult found = optimize(options, {.tell = show, .stop = is_interrupted});
//   if (found.result && found.result->found) ...      runs/resnet20-cifar/bundle holds it
//
// What is wrong with the options is said before anything is measured, and nothing is left behind.
// Everything that was measured is in the journal of the folder: a search that was stopped goes on
// when it is asked for again. A search prints nothing.
#pragma once

#include <optional>

#include "capacity/gate.h"
#include "jobs/event.h"
#include "jobs/judging.h"
#include "jobs/scoring.h"
#include "results/search_result.h"
#include "search/round_bench.h"
#include "search/worker_pool.h"
#include "strategies/strategy.h"

namespace lathe {

/// Variants that a search scores for each that it measures. Screening needs something to choose
/// from, and to score one takes far less than to measure it.
inline constexpr size_t scored_for_each = 3;

struct OptimizeOptions {
  ScoreArguments score{.samples = 32, .seeds = 2};
  std::string folder;  ///< where the search is kept; "": runs/NETWORK (jobs/work_folder.h)
  std::string strategy = "assign";
  GateRule rule = find_rule("two-sided");  ///< with its tolerance
  SpaceOptions space{.most = 20};
  NetworkLimits limits;
  long trials = 1000;  ///< networks that are drawn, where a strategy draws
  long exact = 6;      ///< networks that are evaluated exactly and measured
  double tune = 20;    ///< seconds for which networks are tuned at the end; 0: not
  int threads = 1;     ///< that the network will run with
  double budget = std::numeric_limits<double>::infinity();  ///< seconds (jobs/budget.h)
  /// What layers compute in: a precision's name, or any_precision (jobs/search_precision.h).
  std::string precision = "f32";
  bool blocks = true;   ///< compare with what a list of blocks can do (search/block_list.h)
  std::string against;  ///< other libraries to compare the original with (jobs/peers.h); "": none
  std::string lathe;    ///< the program lathe, which that needs
  std::string command;  ///< that the result is to show as its origin
  /// What is known from another search of the same network, which had another tolerance: how
  /// networks are judged, and its folder, where its journal is. Null and "": nothing.
  std::shared_ptr<SearchJudge> judge = nullptr;
  std::string known_in = {};
  /// A GPU that networks are measured on, instead of this machine; and the folder through which
  /// that is done (search/round_bench.h), if it is elsewhere. "jobs.folder" is "" if it is here.
  std::optional<Target> gpu = std::nullopt;
  JobFolderOptions jobs = {};
  /// Other machines that score and measure. Their "address" is "" if there are none.
  WorkerOptions workers = {};
  /// The folder of a search for another machine, which knows what layers score. "": none.
  std::string scores_in = {};
};

/// Returns the options with what a user left as it was so large that a search of a network like
/// ResNet-34 takes about an hour on two cores.
OptimizeOptions thorough(OptimizeOptions options);

struct OptimizeResult {
  std::string folder;
  bool stopped = false;  ///< before its end, by the listener: the same options go on with it
  /// The jobs that somebody has to measure before the same options go on with it.
  std::optional<RoundsWaiting> waiting = std::nullopt;
  /// What was found, up to then; nothing if it was stopped before any network was tried, or if jobs
  /// wait.
  std::optional<SearchResult> result = std::nullopt;
};

/// Searches. Fails where it cannot begin, and where the folder holds another search.
OptimizeResult optimize(OptimizeOptions options, const JobListener& listener = {});

/// Were the wishes of a user met: is the winner faster, or does the original keep the constraint?
bool is_success(const SearchResult& result);

}  // namespace lathe
