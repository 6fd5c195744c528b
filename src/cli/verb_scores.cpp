// verb_scores.cpp: what the verbs that score networks share. Interface: verb_scores.h.
#include "cli/verb_scores.h"

#include "cli/verb_tuned.h"

namespace lathe {

void add_data_arguments(Command& app, ScoreArguments& arguments) {
  app.add_option("--data", arguments.data,
                 "data with labels: cifar10:FOLDER, npy:X.npy,Y.npy, or synthetic:SEED, which is "
                 "generated to fit the network; without: npy:X.npy");
  app.add_option("--normalize", arguments.normalize, "how to normalise images")
      ->check(one_of({"none", "imagenet", "cifar"}));
  app.add_option("--samples", arguments.samples, "samples in a minibatch")->check(range(2, 4096));
  app.add_option("--seeds", arguments.seeds, "how often weights and minibatch are drawn")
      ->check(range(1, 10000));
}

void add_loss_argument(Command& app, ScoreArguments& arguments) {
  app.add_option("--loss", arguments.loss,
                 "what a trained network is judged by: labels, or, where there are none, its "
                 "distance to the original's outputs")
      ->check(one_of({"labels", "output"}));
}

void add_scorer_arguments(Command& app, ScoreArguments& arguments) {
  add_data_arguments(app, arguments);
  app.add_option("--hook", arguments.hook, "where activations are looked at: behind each of these")
      ->check(one_of({"convolution", "normalisation", "block"}));
  app.add_option("--threads", arguments.threads, "number of workers; 0 means one per processor")
      ->check(range(0, 256));
  app.add_option("--seed", arguments.network.seed, "the first seed");
  app.add_flag("--double", arguments.is_double, "compute in double precision, which is slower");
  app.add_option("--memory", arguments.memory,
                 "memory for activations and gradients, like 1G; with less, some are computed "
                 "twice")
      ->as_bytes();
  add_error_argument(app, arguments.max_error);
}

void add_score_arguments(Command& app, ScoreArguments& arguments) {
  add_network_arguments(app, arguments.network);
  add_scorer_arguments(app, arguments);
}

}  // namespace lathe
