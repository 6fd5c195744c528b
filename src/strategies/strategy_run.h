// A search: proposals of a strategy are judged and measured, and everything is in the journal.
//
//   SearchLaboratory laboratory{...};
//   SearchReport report = run_search(find_strategy("assign"), input, laboratory);
//   report.best                                  the fastest that passed, measured
#pragma once

#include "strategies/strategy.h"

namespace lathe {

/// What candidates are evaluated with.
struct SearchLaboratory {
  const Graph& timed;   ///< the network as it runs
  const Graph& scored;  ///< the same for as many samples as a minibatch has
  const Scorer& scorer;
  NetworkBench& bench;
  Journal& journal;
  /// Told of every trial, and how many there were.
  std::function<void(const Trial&, long)> progress = nullptr;
  std::function<bool()> stop = nullptr;
};

/// A network that passed the gate and was measured.
struct Winner {
  Assignment assignment;
  NetworkRecipe recipe;
  double own = 0, time = 0;  ///< seconds, of one run in which they took turns
  double spread = 0;         ///< of its times: half of them lie within so many seconds
  nlohmann::json verdict;
  std::optional<NetworkChecks> checks, original_checks;  ///< what the interpreter confirmed
};

struct SearchReport {
  std::optional<Winner> best;  ///< of those that have a layer that changed
  std::vector<Winner> passed;  ///< all of them, as they were found
  /// Seconds of the fastest that the gate accepted, however slow a constraint finds it; infinite
  /// if there is none.
  double fastest_accepted = std::numeric_limits<double>::infinity();
  long tried = 0, refused = 0, failed = 0;
  std::map<std::string, long> reasons;  ///< of refusals and failures, with their number
  bool stopped = false;
};

SearchReport run_search(const Strategy& strategy, const StrategyInput& input,
                        SearchLaboratory& laboratory);

/// Converts a verdict to what the journal and reports show of it.
nlohmann::json to_json(const GateVerdict& verdict);

}  // namespace lathe
