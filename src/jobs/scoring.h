// How the networks of a job are scored: on which data, how often.
//
//   ScoreArguments how{.network = {.network = "resnet20-cifar"}, .samples = 32, .seeds = 2};
//   std::vector<Scores> scores = make_scorer(how).run(load_untrained(how), metrics);
#pragma once

#include "jobs/network_source.h"
#include "metrics/metric_scores.h"

namespace lathe {

/// A network and how it is scored, as a user says it.
struct ScoreArguments {
  NetworkArguments network;
  std::string data = "synthetic:0", normalize = "cifar", hook = "convolution";
  /// What a trained network is judged by: "labels", or "output", its distance to the original's.
  std::string loss = "labels";
  long samples = 64, seeds = 4;
  int threads = 0;  ///< workers; 0: one for each processor
  bool is_double = false;
  long memory = any_memory;
  double max_error = any_error;
};

/// Returns the network as it begins, for as many samples as a minibatch has.
Graph load_untrained(const ScoreArguments& arguments);
/// Returns the same. Fails first, and says why, if it cannot be judged (capacity/judgeable.h).
Graph load_judged(const ScoreArguments& arguments);

/// Returns how many workers there are to be.
int workers_of(const ScoreArguments& arguments);

/// Returns what scores networks as the arguments say; by their outputs, each of which counts in
/// some way (ScorerOptions), instead of labels if there are such numbers.
Scorer make_scorer(const ScoreArguments& arguments,
                   std::function<void(size_t, size_t)> progress = nullptr,
                   std::vector<double> outputs = {});

/// Is a trained network judged by its outputs, not by labels?
bool is_by_outputs(const ScoreArguments& arguments);

/// Returns the name of the data: "cifar10".
std::string dataset_of(const ScoreArguments& arguments);

/// Says what networks are scored on: "64 samples of cifar10, 8 seeds".
std::string describe(const ScoreArguments& arguments);

}  // namespace lathe
