// verb_scores.cpp: what the verbs that score networks share. Interface: verb_scores.h.
#include "cli/verb_scores.h"

#include <thread>

#include "base/error.h"
#include "program/rebatch.h"

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
  add_error_argument(app, arguments.tuned);
}

void add_score_arguments(CLI::App& app, ScoreArguments& arguments) {
  add_network_arguments(app, arguments.network);
  add_scorer_arguments(app, arguments);
}

Graph load_untrained(const ScoreArguments& arguments) {
  NetworkArguments network = arguments.network;
  if (is_onnx_file(network.network)) {
    return untrained(rebatched(load_network(network), arguments.samples));
  }
  network.model.batch = arguments.samples;
  return untrained(load_network(network));
}

int workers_of(const ScoreArguments& arguments) {
  if (arguments.threads != 0) return arguments.threads;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

Scorer make_scorer(const ScoreArguments& arguments, std::function<void(size_t, size_t)> progress) {
  auto normalize = normalize_named(arguments.normalize);
  if (!normalize) {
    fail("--normalize {}: there are none, imagenet and cifar", arguments.normalize);
  }
  auto hook = hook_named(arguments.hook);
  if (!hook) {
    fail("--hook {}: there are convolution, normalisation and block", arguments.hook);
  }
  ScorerOptions options;
  options.hook = *hook;
  options.seeds = static_cast<size_t>(arguments.seeds);
  options.first_seed = arguments.network.seed;
  options.samples = arguments.samples;
  options.threads = workers_of(arguments);
  if (arguments.is_double) options.element = Element::f64;
  options.memory = arguments.memory;
  options.max_error = arguments.tuned.max_error;
  options.progress = std::move(progress);
  return Scorer(load_dataset(arguments.data, Split::train, *normalize), options);
}

std::string describe(const ScoreArguments& arguments) {
  return fmt::format("{} samples of {}, {} seed{}", arguments.samples,
                     arguments.data.substr(0, arguments.data.find(':')), arguments.seeds,
                     arguments.seeds == 1 ? "" : "s");
}

}  // namespace lathe
