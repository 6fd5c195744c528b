// Scores to first order: each layer is changed alone, and the score of a network is put together
// from what was found for its layers.
//
//   FirstOrder first(network, scorer, rule.metrics(), seed);    one exact evaluation
//   first.change("layer3.0.conv1", recipe).scores[0];           one layer's work
//   first.scores({{"layer3.0.conv1", recipe}, ...});            none, where its layers are known
//
// A layer alone reads what it reads in the original, and gets the gradient that it gets there. If
// several layers of a network change, the gradient is another one. A layer may hand back G times as
// much gradient as it did, measured by the sum of squares. Then all layers before it get G times as
// much, if there is no other path. Where paths join, as before the blocks of a residual network,
// each path counts by the gradient that came along it in the original. Thousands of candidates cost
// no more than the distinct layers that they are made of.
//
// Metrics say themselves what they are to first order (metrics/metric.h). Metrics that layers alone
// do not tell are left out here; a rule says what to expect of them (GateRule::beyond_share).
#pragma once

#include <map>
#include <mutex>

#include "capacity/layer_scores.h"
#include "metrics/metric_scores.h"

namespace lathe {

class FirstOrder : public LayerScores {
 public:
  /// Evaluates the original with the weights and the minibatch of a seed. Fails unless the first of
  /// the metrics is one that layers alone tell.
  FirstOrder(const Graph& network, const Scorer& scorer, const std::vector<Metric>& metrics,
             uint64_t seed);

  const std::vector<Metric>& metrics() const override { return metrics_; }
  const std::vector<Score>& original_scores() const override { return original_; }
  LayerChange change(const std::string& layer, const Recipe& recipe,
                     const std::optional<LayerWidth>& width = std::nullopt) override;
  GradientFlow flow() override;

  /// Returns what each layer scores by the first metric, in a network in which these recipes
  /// changed the layers that are named.
  std::vector<LayerScore> scores(const std::map<std::string, Recipe>& changed);

 private:
  /// A layer alone: a convolution, and the normalisation behind it.
  struct Layer {
    Graph graph;
    Batch batch;  ///< what it reads, and the gradient of what it makes
  };
  /// What was found for a layer alone.
  struct Alone {
    std::vector<double> scores;
    /// The sum of squares of the gradient of what it reads. It is estimated from the weights; for
    /// the layer as it was, it is measured, too.
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
