// What the verbs that score networks share: data, samples, seeds.
#pragma once

#include "cli/verb_network.h"
#include "cli/verb_tuned.h"
#include "metrics/metric_scores.h"

namespace lathe {

/// The options of scoring as they were typed.
struct ScoreArguments {
  NetworkArguments network;
  std::string data = "synthetic:0", normalize = "cifar", hook = "convolution";
  long samples = 64, seeds = 4;
  int threads = 0;
  bool is_double = false;
  long memory = any_memory;
  TunedArguments tuned;
};

/// Declares NETWORK and the options of scoring on "app".
void add_score_arguments(CLI::App& app, ScoreArguments& arguments);

/// Declares what networks are scored on: data, samples, seeds.
void add_data_arguments(CLI::App& app, ScoreArguments& arguments);

/// All but NETWORK.
void add_scorer_arguments(CLI::App& app, ScoreArguments& arguments);

/// Returns the network as it begins, for as many samples as a minibatch has.
Graph load_untrained(const ScoreArguments& arguments);

/// Returns how many workers there are to be.
int workers_of(const ScoreArguments& arguments);

/// Returns what scores networks as the arguments say.
Scorer make_scorer(const ScoreArguments& arguments,
                   std::function<void(size_t, size_t)> progress = nullptr);

/// Says what networks are scored on: "64 samples of cifar10, 8 seeds".
std::string describe(const ScoreArguments& arguments);

}  // namespace lathe
