// score.cpp: "lathe score NETWORK": what a network promises before it is trained.
#include "cli/verb_network.h"
#include "data/dataset.h"
#include "metrics/metric_program.h"
#include "compile/units.h"
#include <chrono>

namespace lathe::cli {
namespace {

struct Options {
  NetworkArguments network;
  std::string data = "synthetic:1", metric = "fisher";
  long samples = 64;
  int threads = 1;
};

int run(const Options& options) {
  NetworkArguments arguments = options.network;
  arguments.model.batch = options.samples;
  Graph graph = initialised(load_network(arguments), arguments.seed);
  Dataset data = load_dataset(options.data, Split::train, Normalize::cifar);
  Batch batch{data.images(0, options.samples), data.labels(0, options.samples)};
  EvaluationOptions how;
  how.threads = options.threads;
  how.compile.made = std::make_shared<MadeUnits>();
  how.more = [&](size_t i) {
    long first = static_cast<long>(i) * options.samples;
    return Batch{data.images(first, options.samples), data.labels(first, options.samples)};
  };
  std::vector<Metric> metrics = parse_metrics(options.metric);
  std::vector<Score> scores;
  for (int i = 0; i < 3; ++i) {
    auto a = std::chrono::steady_clock::now();
    Evaluation evaluation(graph, batch, how);
    scores = evaluation.run(metrics);
    auto b = std::chrono::steady_clock::now();
    fmt::print("{} s\n", std::chrono::duration<double>(b - a).count());
  }
  for (size_t m = 0; m < metrics.size(); ++m) {
    if (metrics.size() == 1) {
      for (const LayerScore& layer : scores[m].layers)
        fmt::print("{:30} {:.6g}\n", layer.layer, layer.score);
    }
    fmt::print("{} {:.9g}\n", metrics[m].name, scores[m].total);
  }
  return 0;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_network_arguments(app, options->network);
  app.add_option("--data", options->data, "images with labels");
  app.add_option("--metric", options->metric, "which");
  app.add_option("--samples", options->samples, "images of the minibatch");
  app.add_option("--threads", options->threads, "workers");
  app.add_option("--seed", options->network.seed, "of weights that nobody trained");
  return [options] { return run(*options); };
}

}  // namespace

Verb score() { return {"score", "score a network before it is trained", prepare}; }

}  // namespace lathe::cli
