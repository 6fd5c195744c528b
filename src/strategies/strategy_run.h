// Running a search: a strategy proposes networks, they are judged and measured, and the journal
// keeps what came of each.
//
//   SearchLaboratory laboratory{...};
//   SearchReport report = run_search(find_strategy("assign"), input, laboratory);
//   report.best                                  the fastest that passed, measured
#pragma once

#include "strategies/strategy.h"

namespace lathe {

/// What a search evaluates networks with.
struct SearchLaboratory {
  const Graph& timed;  ///< the network as it runs
  /// Compares a network with the original by all metrics of the rule.
  std::function<std::vector<Comparison>(const NetworkRecipe&)> compare;
  uint64_t seed;  ///< of weights that nobody trained
  /// What gives layers the precision that a recipe says, and how many points of accuracy that
  /// gains; null: recipes say nothing of it.
  std::function<Graph(const Graph&, const NetworkRecipe&)> finish;
  std::function<double(const NetworkRecipe&)> points_of_precision;
  NetworkMeasurer& bench;
  Journal& journal;
  /// Is told of every trial, and how many there were so far.
  std::function<void(const Trial&, long)> progress = nullptr;
  std::function<bool()> stop = nullptr;
};

/// A network that passed the gate and was measured.
struct Winner {
  Assignment assignment;
  NetworkRecipe recipe;
  double own = 0, time = 0;  ///< seconds, of one run in which they took turns
  double spread = 0;         ///< half of its times lie in a range of so many seconds
  nlohmann::json verdict;
  std::optional<NetworkChecks> checks, original_checks;  ///< what the interpreter confirmed
};

struct SearchReport {
  std::optional<Winner> best;  ///< the best network in which a layer changed, if there is one
  std::vector<Winner> passed;  ///< all networks that passed, in the order in which they were found
  /// Seconds of the fastest network that the gate accepted, even if it is slower than the user's
  /// limit; infinite if there is none.
  double fastest_accepted = std::numeric_limits<double>::infinity();
  long tried = 0, refused = 0, failed = 0;
  std::map<std::string, long> reasons;  ///< of refusals and failures, with their number
  bool stopped = false;
};

/// Runs a strategy to its end, or until it is stopped. Trials that the journal has are not
/// repeated.
SearchReport run_search(const Strategy& strategy, const StrategyInput& input,
                        SearchLaboratory& laboratory);

/// Converts a verdict to the form in which the journal and results keep it.
nlohmann::json to_json(const GateVerdict& verdict);

}  // namespace lathe
