// scoring.cpp: how the networks of a job are scored. Interface: scoring.h.
#include "jobs/scoring.h"

#include "base/error.h"
#include "base/parallel.h"
#include "capacity/judgeable.h"
#include "program/rebatch.h"

namespace lathe {

Graph load_untrained(const ScoreArguments& arguments) {
  return untrained(rebatched(load_network(arguments.network), arguments.samples));
}

Graph load_judged(const ScoreArguments& arguments) {
  Graph network = load_untrained(arguments);
  check_judgeable(network);
  return network;
}

int workers_of(const ScoreArguments& arguments) {
  return arguments.threads != 0 ? arguments.threads : processors();
}

Scorer make_scorer(const ScoreArguments& arguments, std::function<void(size_t, size_t)> progress,
                   std::vector<double> outputs) {
  auto normalize = normalize_named(arguments.normalize);
  if (!normalize) {
    fail("--normalize {}: there are none, imagenet and cifar", arguments.normalize);
  }
  auto hook = hook_named(arguments.hook);
  if (!hook) {
    fail("--hook {}: there are convolution, normalisation and block", arguments.hook);
  }
  ScorerOptions options;
  options.target = native_target();
  options.hook = *hook;
  options.seeds = static_cast<size_t>(arguments.seeds);
  options.first_seed = arguments.network.seed;
  options.samples = arguments.samples;
  options.threads = workers_of(arguments);
  if (arguments.is_double) options.element = Element::f64;
  options.memory = arguments.memory;
  options.max_error = arguments.max_error;
  options.progress = std::move(progress);
  options.outputs = std::move(outputs);
  return Scorer(load_dataset(arguments.data, Split::train, *normalize), options);
}

bool is_by_outputs(const ScoreArguments& arguments) { return arguments.loss == "output"; }

std::string dataset_of(const ScoreArguments& arguments) {
  return arguments.data.substr(0, arguments.data.find(':'));
}

std::string describe(const ScoreArguments& arguments) {
  return fmt::format("{} samples of {}, {} seed{}", arguments.samples, dataset_of(arguments),
                     arguments.seeds, arguments.seeds == 1 ? "" : "s");
}

}  // namespace lathe
