// score.cpp: "lathe score NETWORK": what a network promises before it is trained; beside another
// one, seed by seed, where a recipe is given.
#include "jobs/score.h"
#include "base/error.h"
#include "base/statistics.h"
#include "capacity/gate.h"
#include "cli/verb_listener.h"
#include "cli/verb_scores.h"
#include "data/npz.h"

namespace lathe::cli {
namespace {

struct ScoreArgs {
  ScoreJobOptions job;
  std::string gradients;
  bool json = false, layers = true;
};

struct Summary {
  double middle;
  Interval interval;
};

Summary summary_of(const std::vector<double>& numbers) {
  double middle = mean(numbers);
  if (numbers.size() < 2) return {middle, {middle, middle}};
  return {middle, mean_interval(numbers)};
}

std::string print_interval(const Summary& s, size_t seeds) {
  if (seeds < 2) return "one seed";
  return fmt::format("{:.4g} to {:.4g}", s.interval.low, s.interval.high);
}

/// Returns the mean over seeds of each layer's score.
std::vector<LayerScore> mean_layers(const Scores& scores) {
  std::vector<LayerScore> result = scores.of_seeds.front().layers;
  for (size_t l = 0; l < result.size(); ++l) {
    std::vector<double> values;
    for (const Score& score : scores.of_seeds) values.push_back(score.layers.at(l).score);
    result[l].score = mean(values);
  }
  return result;
}

void print_one(const ScoreArgs& options, const std::vector<Scores>& all) {
  fmt::print("{}: {}\n", options.job.score.network.network, describe(options.job.score));
  fmt::print("{:<12}{:>12}   {}\n", "metric", "score", "95 % interval of the mean");
  for (const Scores& scores : all) {
    Summary s = summary_of(scores.totals());
    fmt::print("{:<12}{:>12.5g}   {}\n", scores.metric, s.middle,
               print_interval(s, scores.of_seeds.size()));
  }
  for (const Scores& scores : all) {
    if (!options.layers || scores.of_seeds.front().layers.empty()) continue;
    fmt::print("\n{:<40}{:>12}\n", "layer", scores.metric);
    for (const LayerScore& layer : mean_layers(scores)) {
      fmt::print("{:<40}{:>12.5g}\n", layer.layer, layer.score);
    }
  }
}

void print_pair(const ScoreArgs& options, const std::vector<Scores>& before,
                const std::vector<Scores>& after) {
  fmt::print("{}: {}\n", options.job.score.network.network, describe(options.job.score));
  fmt::print("{:<12}{:>12}{:>12}{:>10}   {}\n", "metric", "original", "changed", "ratio",
             "95 % interval");
  std::vector<Comparison> comparisons = compared(before, after);
  for (size_t m = 0; m < before.size(); ++m) {
    const Comparison& c = comparisons[m];
    double a = mean(before[m].totals()), b = mean(after[m].totals());
    std::string ratio = "-", interval = "of the difference: ";
    if (!c.log_ratios.empty()) {
      Summary s = summary_of(c.log_ratios);
      ratio = fmt::format("{:.3g}", std::exp(s.middle));
      interval = c.log_ratios.size() < 2 ? "one seed"
                                         : fmt::format("{:.3g} to {:.3g}", std::exp(s.interval.low),
                                                       std::exp(s.interval.high));
    } else {
      interval += print_interval(summary_of(c.differences), c.differences.size());
    }
    fmt::print("{:<12}{:>12.5g}{:>12.5g}{:>10}   {}\n", c.metric, a, b, ratio, interval);
  }
  for (const Comparison& c : comparisons) {
    if (!options.layers || c.layers.empty()) continue;
    fmt::print("\n{:<40}{:>12}\n", "layer", c.metric + " ratio");
    for (const LayerMove& layer : c.layers) {
      fmt::print("{:<40}{:>12.3g}\n", layer.layer, std::exp(layer.log_ratio));
    }
  }
}

/// Writes the gradients of all activations for the first seed: for those who look closer.
void write_gradients(const ScoreArgs& options) {
  Graph network = load_untrained(options.job.score);
  Scorer scorer = make_scorer(options.job.score);
  uint64_t seed = options.job.score.network.seed;
  Batch batch = scorer.batch(network, seed);
  EvaluationOptions how = scorer.evaluation(network, seed);
  Probe probe(initialised(network, seed), how.kind, how.hook);
  probe.feed(batch);
  std::vector<std::pair<std::string, size_t>> wanted;
  for (const Probe::Activation& activation : probe.activations()) {
    if (activation.gradient == no_value) continue;
    wanted.emplace_back(activation.layer, probe.want(activation.gradient));
  }
  Runners runners(how.compile, how.threads);
  probe.run(runners);
  NamedArrays arrays;
  for (const auto& [layer, place] : wanted) arrays.emplace_back(layer, probe.result(place));
  write_npz(options.gradients, arrays);
}

int run_score(const ScoreArgs& options) {
  if (!options.gradients.empty()) write_gradients(options);
  ScoredPair scored;
  {
    JobBar bar("scoring");
    scored = score_network(options.job, bar.listener());
  }
  if (options.json) {
    fmt::print("{}\n", to_json(options.job, scored).dump(2));
  } else if (scored.changed.empty()) {
    print_one(options, scored.original);
  } else {
    print_pair(options, scored.original, scored.changed);
  }
  return 0;
}

std::function<int()> set_up_score(Command& app) {
  auto options = std::make_shared<ScoreArgs>();
  add_score_arguments(app, options->job.score);
  app.add_option("--metric NAMES", options->job.metrics,
                 "which metrics: one, several with commas, or all");
  app.add_option("--recipe RECIPE", options->job.recipe,
                 "compare with the network that a recipe makes: 'NAMES: STEPS', or a .json or "
                 ".recipe file");
  app.add_option("--gradients FILE", options->gradients,
                 "write the gradients of all activations to an .npz file, for the first seed")
      ->writes();
  app.add_flag("!--no-layers", options->layers, "print no scores of layers");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_score(*options); };
}

}  // namespace

Verb score() {
  return {"score", "score a network before it is trained", set_up_score,
          "lathe score resnet18-cifar --metric fisher,naswot --recipe 'layer1.*: group(2)'"};
}

}  // namespace lathe::cli
