// Scores to first order: each layer is changed alone, and what follows for the network is put
// together from that.
//
//   FirstOrder first(network, scorer, rule.metrics(), seed);    one exact evaluation
//   first.change("layer3.0.conv1", recipe).scores[0];           one layer's work
//   first.scores({{"layer3.0.conv1", recipe}, ...});            none, where its layers are known
//
// A layer alone reads what it reads in the original, and gets the gradient that it gets there. In a
// network of which several layers are changed the gradient is another one. A layer that hands back
// G times as much gradient (of the sum of squares) as it did gives all layers before it G times as
// much, as far as its path is the only one. Where paths join, as before the blocks of a residual
// network, they count by what came along each in the original. Thousands of candidates cost no more
// than the distinct layers that they are made of.
//
// Metrics say themselves what they are to first order (metrics/metric.h). Those that layers alone
// tell nothing of are left out here; a rule says what to expect of them (GateRule::beyond_share).
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "metrics/metric_scores.h"
#include "nest/step.h"

namespace lathe {

/// How gradients flow back through a network.
class GradientFlow {
 public:
  struct Reader {
    size_t station;
    double weight;  ///< of the gradient that came along it, in the original
  };
  /// A node: who reads what it makes, and which layer it is, if it is one.
  struct Station {
    std::vector<Reader> readers;
    std::optional<size_t> layer;
  };

  GradientFlow() = default;
  explicit GradientFlow(std::vector<Station> stations) : stations_(std::move(stations)) {}

  /// Takes how many times as much each layer hands back as it did, in squares; returns how many
  /// times as much each gets.
  std::vector<double> received(const std::vector<double>& gains) const;

 private:
  std::vector<Station> stations_;  // in the order of the network
};

/// A layer that a recipe changed, everything else being as it was.
struct LayerChange {
  std::vector<double> scores;  ///< by each metric that layers alone tell
  double gain = 1;             ///< how many times as much gradient it hands back, in squares
};

class FirstOrder {
 public:
  /// Evaluates the original with the weights and the minibatch of a seed. Of the metrics, the first
  /// must be one that layers alone tell; it fails otherwise.
  FirstOrder(const Graph& network, const Scorer& scorer, const std::vector<Metric>& metrics,
             uint64_t seed);

  /// Returns the metrics that layers alone tell, and what each says of the original.
  const std::vector<Metric>& metrics() const { return metrics_; }
  const std::vector<Score>& original_scores() const { return original_; }

  /// Returns the layers, in order, and what each scores in the original by the first metric.
  const std::vector<LayerScore>& original() const { return original_.front().layers; }

  /// Returns what becomes of a layer that a recipe changes. What was asked before is known. May be
  /// called by several threads.
  LayerChange change(const std::string& layer, const Recipe& recipe);

  /// Returns how gradients flow; layers are numbered as original() has them.
  GradientFlow flow();

  /// Returns what each layer scores by the first metric in a network of which these were changed,
  /// by their names.
  std::vector<LayerScore> scores(const std::map<std::string, Recipe>& changed);

 private:
  /// A layer alone: a convolution, and the normalisation behind it.
  struct Layer {
    Graph graph;
    Batch batch;  ///< what it reads, and the gradient of what it makes
  };
  struct Alone {
    std::vector<double> scores;
    /// The sum of squares of the gradient of what it reads; measured where nothing is changed.
    double estimated = 0, measured = 0;
  };

  Alone evaluated(const std::string& layer, const Recipe& recipe);
  /// Returns how much gradient came along a node, in the original, to a value that others read too.
  double weight_of(size_t node);

  Graph network_;
  std::vector<std::vector<size_t>> users_;  // of the network's values
  std::map<size_t, double> passed_on_;      // by nodes that are no layers
  std::vector<Metric> metrics_;
  std::vector<Score> original_;  // by each metric
  std::map<std::string, Layer> layers_;
  EvaluationOptions how_;
  uint64_t seed_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Alone> known_;
};

}  // namespace lathe
