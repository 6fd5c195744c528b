// Strategies: which networks are tried next. One file each: X.cpp is the strategy X.
//
//   auto searcher = find_strategy("assign").begin(input);
//   while (auto proposal = searcher->propose()) searcher->observe(outcome_of(*proposal));
//
// A strategy knows two things: the tables (how long every variant of every layer takes, and what it
// scores) and what came of its own proposals. It has no clock and no other memory. So the same seed
// and outcomes give the same proposals, and a search that was killed can go on.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "base/random.h"
#include "search/layer_tables.h"

namespace lathe {

/// What a user asks of the result.
struct NetworkLimits {
  long weights = std::numeric_limits<long>::max();
  long macs = std::numeric_limits<long>::max();
  /// Seconds of a run. If there is such a limit, the most accurate network within it is wanted;
  /// otherwise the fastest one.
  double time = std::numeric_limits<double>::infinity();
};

/// What a strategy chooses by.
struct StrategyInput {
  const NetworkSpace& space;
  const LayerTables& tables;
  const GateRule& rule;
  NetworkLimits limits;
  long trials = 1000;  ///< how many networks the tables judge, if the strategy draws networks
  long exact = 6;      ///< how many networks are evaluated and measured, at most
  uint64_t seed = 1;
  bool readable = true;  ///< is a network wanted that people read? Then few families are better
};

/// A network to try.
struct Proposal {
  Assignment assignment;
  bool exact = false;  ///< true: evaluate and measure it; false: judge it by the tables
};

/// What came of a proposal.
struct Observation {
  bool accepted = false;
  std::string failure;                   ///< why it could not be measured; "" if it could
  double time = 0;                       ///< seconds; 0 if it was not measured
  double log_ratio = 0;                  ///< of scores by the metric that has bands
  double predicted = 0;                  ///< points of accuracy
  std::map<std::string, double> layers;  ///< log_ratio of each layer, if evaluated exactly
};

class Searcher {
 public:
  virtual ~Searcher() = default;
  /// Returns the next network; nothing when the search is over.
  virtual std::optional<Proposal> propose() = 0;
  /// Is told what came of the last proposal.
  virtual void observe(const Observation& observation) = 0;
};

/// Where a strategy finds what layers can become.
enum class SpaceOf {
  steps,   ///< all that steps compose (search/layer_variants.h), screened by scores
  blocks,  ///< the list of blocks, not screened (search/block_list.h)
};

struct Strategy {
  std::string name;
  std::string summary;  ///< one line
  std::unique_ptr<Searcher> (*begin)(const StrategyInput& input);
  SpaceOf space = SpaceOf::steps;
};

namespace strategies {
/// Returns every strategy, sorted by name.
const std::vector<Strategy>& all();
}  // namespace strategies

/// Returns the strategy of that name; an unknown one is an error that lists those that exist.
const Strategy& find_strategy(const std::string& name);

/// Is an assignment within the limits, as far as the tables tell?
bool is_within(const StrategyInput& input, const Assignment& assignment);

}  // namespace lathe
