// Scores to first order: one layer is changed, everything around it stays as it was.
//
//   FirstOrder first(network, scorer, seed);                   one exact evaluation
//   double moved = first.score("layer3.0.conv1", recipe);      one layer's work
//
// What the layer reads and the gradient of what it makes are those of the original. A network that
// differs in many layers is then the sum of their scores: thousands of candidates cost no more than
// the distinct layers that they are made of.
#pragma once

#include <map>
#include <mutex>

#include "metrics/metric_scores.h"
#include "nest/step.h"

namespace lathe {

class FirstOrder {
 public:
  /// Evaluates the original with the weights and the minibatch of a seed.
  FirstOrder(const Graph& network, const Scorer& scorer, uint64_t seed);

  /// Returns the layers, in order, and what each scores in the original.
  const std::vector<LayerScore>& original() const { return original_; }

  /// Returns what a layer scores that a recipe changed. What was asked before is known. May be
  /// called by several threads.
  double score(const std::string& layer, const Recipe& recipe);

 private:
  /// A layer alone: a convolution, and the normalisation behind it.
  struct Layer {
    Graph graph;
    Batch batch;  ///< what it reads, and the gradient of what it makes
  };
  std::vector<LayerScore> original_;
  std::map<std::string, Layer> layers_;
  EvaluationOptions how_;
  uint64_t seed_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, double> known_;
};

}  // namespace lathe
