// verb_scores.cpp: what the verbs that score networks share. Interface: verb_scores.h.
#include "cli/verb_scores.h"

#include "cli/verb_tuned.h"

namespace lathe {

void add_data_arguments(CLI::App& app, ScoreArguments& arguments) {
  app.add_option("--data", arguments.data,
                 "images with labels: cifar10:DIR, npy:X.npy,Y.npy or synthetic:SEED");
  app.add_option("--normalize", arguments.normalize, "of images: none, imagenet or cifar");
  app.add_option("--samples", arguments.samples, "images of a minibatch")
      ->check(CLI::Range(2L, 4096L));
  app.add_option("--seeds", arguments.seeds, "draws of weights and minibatches")
      ->check(CLI::Range(1L, 10000L));
}

void add_scorer_arguments(CLI::App& app, ScoreArguments& arguments) {
  add_data_arguments(app, arguments);
  app.add_option("--hook", arguments.hook,
                 "where activations are looked at: convolution, normalisation or block");
  app.add_option("--threads", arguments.threads, "workers; 0: one for each processor")
      ->check(CLI::Range(0, 256));
  app.add_option("--seed", arguments.network.seed, "the first seed");
  app.add_flag("--double", arguments.is_double, "compute in double precision, slower");
  app.add_option("--memory", arguments.memory,
                 "bytes that activations and gradients may take, as in 1G: some are computed again")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(1L, any_memory));
  add_error_argument(app, arguments.max_error);
}

void add_score_arguments(CLI::App& app, ScoreArguments& arguments) {
  add_network_arguments(app, arguments.network);
  add_scorer_arguments(app, arguments);
}

}  // namespace lathe
