// Scores of networks with the weights that they begin with, drawn several times.
//
//   Scorer scorer(load_dataset("cifar10:DIR", Split::train, Normalize::cifar),
//                 {.target = native_target(), .seeds = 8});
//   std::vector<Scores> scores = scorer.run(network, parse_metrics("fisher,macs"));
//   scores[0].totals                          of fisher, for each seed
//
// Networks are compared in pairs. A seed stands for one minibatch and one draw of the weights. So
// weights of the same name and shape are the same numbers in both networks.
#pragma once

#include "data/dataset.h"
#include "metrics/metric_probe.h"

namespace lathe {

struct ScorerOptions {
  Target target;  ///< a machine of this computer
  Hook hook = Hook::convolution;
  size_t seeds = 1;
  uint64_t first_seed = 0;
  long samples = 64;               ///< of a minibatch
  int threads = 1;                 ///< the scores do not depend on it
  Element element = Element::f32;  ///< the type that is computed with
  /// If there are no labels: how much each output of the network counts. Then the loss is a sum of
  /// all outputs' elements, each times such a number times a random one.
  std::vector<double> outputs = {};
  long memory = any_memory;      ///< that values may take, as CompileOptions has it
  double max_error = any_error;  ///< of algebraic steps, as CompileOptions has it
  /// Is told how many evaluations are done, and of how many.
  std::function<void(size_t, size_t)> progress = nullptr;
};

/// What a metric says of a network, seed by seed.
struct Scores {
  std::string metric;
  std::vector<Score> of_seeds;

  std::vector<double> totals() const;
};

class Scorer {
 public:
  /// Fails if the minibatch does not fit the data, or if all its samples are of one class.
  Scorer(Dataset data, ScorerOptions options);

  /// Returns what each metric says of the network, whose weights are drawn anew for every seed. The
  /// network must be for as many samples as the minibatch has.
  std::vector<Scores> run(const Graph& network, const std::vector<Metric>& metrics) const;

  /// Returns the minibatch of a seed for a network. Generated data take the form that it reads.
  Batch batch(const Graph& network, uint64_t seed) const;
  const ScorerOptions& options() const { return options_; }
  /// Returns the name of the data: "cifar10".
  const std::string& dataset() const { return data_.name; }
  /// Returns how the network of a seed is evaluated.
  EvaluationOptions evaluation(const Graph& network, uint64_t seed) const;

 private:
  Batch batch_of(const Dataset& data, uint64_t seed) const;
  bool has_labels() const { return options_.outputs.empty(); }
  /// Returns the data in the form that a network reads.
  Dataset data_for(const Graph& network) const;
  /// Returns random numbers for all outputs of a network.
  Array drawn_gradient(const Graph& network, uint64_t seed) const;

  Dataset data_;
  ScorerOptions options_;
  CompileOptions compile_;
};

/// Returns the network with weights as they are before training. They are drawn as is usual for the
/// layers that read them.
Graph untrained(Graph network);

}  // namespace lathe
