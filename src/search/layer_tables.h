// What is known of every variant of every layer: how long it takes, and what it scores. Each number
// is measured once. Strategies choose networks by these tables.
#pragma once

#include <functional>

#include "capacity/gate.h"
#include "capacity/layer_scores.h"
#include "search/assignment_mixing.h"
#include "search/choice_problem.h"
#include "search/journal.h"
#include "search/network_bench.h"
#include "search/network_space.h"
#include "transforms/transform_precision.h"

namespace lathe {

/// The place of a layer that scores to first order do not know: one that is no convolution.
constexpr size_t no_place = static_cast<size_t>(-1);

/// What one metric says of every variant.
struct MetricTable {
  Metric metric;
  ChoiceTable scores;       ///< of each site and variant, if no other layer changes
  std::vector<double> own;  ///< of each layer of LayerTables::flow, in the original
  double total = 0;         ///< of the original
  size_t layers = 0;        ///< how many layers of the original it scores
};

struct LayerTables {
  ChoiceTable times;  ///< seconds of each site and variant; infinity if it failed
  double rest = 0;    ///< seconds of all nodes that cannot change
  /// Those that can be told from layers alone (capacity/first_order.h). The one that has bands is
  /// the first.
  std::vector<MetricTable> metrics;
  /// How channels mix, for any choice; null if nobody looked.
  std::shared_ptr<const AssignmentMixing> mixing = nullptr;
  /// Points of accuracy that each gains by its precision (precision_tables.h); nothing where all
  /// have the same.
  ChoiceTable points = {};
  ChoiceTable gains;  ///< how much gradient each hands back, relative to the original
  GradientFlow flow;  ///< how gradients flow through all layers
  /// Of each site: the number of its layer in "flow"; no_place if first order does not know it.
  std::vector<size_t> places;

  /// Returns log(score of a variant / score of the layer as it was), by the metric that has bands.
  double moved(size_t site, size_t variant) const;
};

/// How far the work on the tables has come.
struct TableProgress {
  std::string what;  ///< "variants measured", "variants scored"
  size_t done, all;
};

struct TableOptions {
  uint64_t seed = 0;  ///< of weights
  /// The precision that all layers have where they are measured, and what gives it to a network.
  Precision precision = Precision::f32;
  std::function<Graph(const Graph&, const NetworkRecipe&)> finish = nullptr;
  std::function<void(const TableProgress&)> progress = nullptr;
  std::function<bool()> stop = nullptr;
  /// Is the time for this spent? Variants that are not known by then are left out of the tables.
  /// Layers as they were are always in them.
  std::function<bool()> enough = nullptr;
};

/// Returns the space with at most "most" variants of each kind, of all families (screening.h):
/// those that the rule most likely accepts. To tell, each variant is scored to first order at one
/// of its sites. For the paper's rule, scores do not matter. Returns nothing if it was stopped.
std::optional<NetworkSpace> screened(const NetworkSpace& space, size_t most, const GateRule& rule,
                                     LayerScores& first, Journal& journal, int workers,
                                     const TableOptions& options);

/// Measures all variants where they stand in the network. One network that is measured has a new
/// variant of every kind of layer. If it fails, its variants are measured one by one, so that only
/// those at fault count as failed. Returns false if it was stopped. Throws JobsWait if something is
/// measured elsewhere, after all was asked for.
bool measure_layers(LayerTables& tables, const NetworkSpace& space, const Graph& network,
                    NetworkMeasurer& bench, Journal& journal, const TableOptions& options);

/// Adds up the times of nodes by site; what the original does not have belongs to the layer before
/// it. The last sum is of all other nodes.
std::vector<double> times_by_site(const NetworkSpace& space, const std::vector<NodeTime>& nodes,
                                  const std::vector<NodeTime>& original);

/// Returns the seconds of all nodes of the original that belong to no site.
double time_of_rest(const NetworkSpace& space, const NetworkTimes& times);

/// Scores all variants to first order, by several workers. Returns false if it was stopped.
bool score_layers(LayerTables& tables, const NetworkSpace& space, LayerScores& first,
                  Journal& journal, int workers, const TableOptions& options);

/// What the tables say of a network.
struct FirstJudgement {
  bool accepted = false;
  std::string reason;          ///< why it is not accepted
  double time = 0;             ///< seconds: the sum over its layers
  double log_ratio = 0;        ///< of the scores by the metric that has bands
  std::vector<double> layers;  ///< log_ratio of each site
  double predicted = 0;        ///< points of accuracy
  /// By how many points "predicted" may be wrong, because layers alone do not tell all metrics of
  /// the rule. What these usually add is in "predicted" (GateRule::beyond_share).
  double unknown = 0;
};

/// Returns the seconds of a network: the sum over its layers, and the rest.
double time_of(const LayerTables& tables, const Assignment& assignment);

/// Compares a network with the original by every metric of the tables.
std::vector<Comparison> compared_first(const LayerTables& tables, const Assignment& assignment);

/// Judges a network by the tables alone.
FirstJudgement judge_first(const GateRule& rule, const NetworkSpace& space,
                           const LayerTables& tables, const Assignment& assignment);

}  // namespace lathe
