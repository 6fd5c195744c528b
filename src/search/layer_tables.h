// What is known of every variant of every layer: how long it takes and what it scores, each
// measured once. Strategies choose by these tables, and are told what came of it.
#pragma once

#include <functional>

#include "capacity/first_order.h"
#include "capacity/gate.h"
#include "search/choice_problem.h"
#include "search/journal.h"
#include "search/network_bench.h"
#include "search/network_space.h"

namespace lathe {

/// What one metric says of every variant.
struct MetricTable {
  Metric metric;
  ChoiceTable scores;       ///< of each site and variant, everything else being as it was
  std::vector<double> own;  ///< of the layers that gradients flow through, as they were
  double total = 0;         ///< of the network as it was
  size_t layers = 0;        ///< how many it scores there
};

struct LayerTables {
  ChoiceTable times;                 ///< seconds of each site and variant; infinity where it failed
  double rest = 0;                   ///< seconds of what cannot change
  std::vector<MetricTable> metrics;  ///< that layers alone tell; the one that has bands is first
  ChoiceTable gains;                 ///< how many times as much gradient it hands back
  GradientFlow flow;                 ///< through all layers
  std::vector<size_t> places;        ///< of sites among those layers

  /// Returns the logarithm of what a variant alone scores, by the metric that has bands, beside the
  /// layer as it was.
  double moved(size_t site, size_t variant) const;
};

/// How far the work on the tables is.
struct TableProgress {
  std::string what;  ///< "variants measured", "variants scored"
  size_t done, all;
};

struct TableOptions {
  uint64_t seed = 0;  ///< of weights
  std::function<void(const TableProgress&)> progress = nullptr;
  std::function<bool()> stop = nullptr;
  /// Is the time for this spent? What is not known by then is left out of the tables; layers as
  /// they were are always there.
  std::function<bool()> enough = nullptr;
};

/// Returns the space with so many variants of each kind, those that a rule is likely to accept:
/// each is scored to first order in one of its places. By the paper's rule, those of few steps.
/// Returns nothing if it was stopped.
std::optional<NetworkSpace> screened(const NetworkSpace& space, size_t most, const GateRule& rule,
                                     FirstOrder& first, Journal& journal, int workers,
                                     const TableOptions& options);

/// Measures all variants in their places in the network: one network has one new variant of every
/// kind of layer. A network that fails is taken apart, so that only the variants at fault do.
/// Returns false if it was stopped.
bool measure_layers(LayerTables& tables, const NetworkSpace& space, const Graph& network,
                    NetworkBench& bench, Journal& journal, const TableOptions& options);

/// Returns the seconds of all nodes of the original that belong to no site.
double time_of_rest(const NetworkSpace& space, const NetworkTimes& times);

/// Scores all variants to first order, by several workers.
bool score_layers(LayerTables& tables, const NetworkSpace& space, FirstOrder& first,
                  Journal& journal, int workers, const TableOptions& options);

/// What the tables say of a network.
struct FirstJudgement {
  bool accepted = false;
  std::string reason;          ///< why it is not
  double time = 0;             ///< seconds, the sum of its layers'
  double log_ratio = 0;        ///< of the scores by the metric that has bands
  std::vector<double> layers;  ///< log_ratio of each site
  double predicted = 0;        ///< points of accuracy
  /// What "predicted" may be wrong by because layers alone do not tell all metrics of the rule;
  /// they are taken to add what they usually do (GateRule::beyond_share).
  double unknown = 0;
};

/// Returns the seconds of a network: the sum of its layers'.
double time_of(const LayerTables& tables, const Assignment& assignment);

/// Compares a network with the original by every metric of the tables.
std::vector<Comparison> compared_first(const LayerTables& tables, const Assignment& assignment);

/// Judges a network by the tables alone.
FirstJudgement judge_first(const GateRule& rule, const NetworkSpace& space,
                           const LayerTables& tables, const Assignment& assignment);

}  // namespace lathe
