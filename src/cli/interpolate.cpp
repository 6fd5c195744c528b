// interpolate.cpp: "lathe interpolate NETWORK RECIPE RECIPE": networks between two networks, what
// they take and what they keep. Figure 9 of the paper.
#include <cmath>

#include "base/error.h"
#include "capacity/gate.h"
#include "cli/verb_nest.h"
#include "cli/verb_scores.h"
#include "data/file.h"
#include "program/layers.h"
#include "report/plot.h"
#include "search/interpolation.h"
#include "search/network_bench.h"

namespace lathe::cli {
namespace {

struct Options {
  ScoreArguments score;
  std::string first, second, rule = "two-sided", plot;
  InterpolationOptions between;
  double seconds = 1;
  int threads = 1;
  bool json = false, csv = false;
};

/// A network of the row, and what is known of it.
struct Model {
  Between between;
  std::string name;
  long macs = 0, weights = 0;
  NetworkTimes times;
  GateVerdict verdict;
  bool is_best = false;  ///< no other is both faster and expected to be as accurate
};

std::string name_of(const Between& model, const Options& options) {
  if (model.way != Between::Way::end) {
    return fmt::format("{} {:.0f} % {}", model.way == Between::Way::filters ? "filters" : "layers",
                       100 * model.part, options.second);
  }
  return model.part == 0 ? options.first : options.second;
}

void set_costs(Model& model, const Graph& graph) {
  for (const Layer& layer : layers_of(graph)) {
    model.macs += layer.cost.macs;
    model.weights += layer.weights;
  }
}

double speed_up(const Model& model) { return model.times.own / model.times.time; }

void mark_best(std::vector<Model>& models) {
  auto is_measured = [](const Model& model) { return model.times.failure.empty(); };
  for (Model& model : models) {
    model.is_best = is_measured(model);
    for (const Model& other : models) {
      if (!is_measured(other)) continue;
      double faster = speed_up(other) - speed_up(model);
      double better = other.verdict.predicted - model.verdict.predicted;
      if (faster >= 0 && better >= 0 && faster + better > 0) model.is_best = false;
    }
  }
}

/// Measures and judges every network of the row.
class Row {
 public:
  explicit Row(const Options& options)
      : options_(options),
        seed_(options.score.network.seed),
        timed_(load_network(options.score.network)),
        row_(interpolated(timed_, parse_recipe(options.first), parse_recipe(options.second),
                          options.between)),
        scored_(load_untrained(options.score)),
        rule_(find_rule(options.rule)),
        scorer_(make_scorer(options.score)),
        bench_(initialised(timed_, seed_), bench_options(options)) {}

  std::vector<Model> run() {
    std::vector<Scores> original = scorer_.run(scored_, rule_.metrics());
    std::vector<Model> models;
    ProgressBar bar("networks");
    for (const Between& between : row_) {
      bar.show(models.size(), row_.size());
      models.push_back(evaluated(between, original));
    }
    mark_best(models);
    return models;
  }

 private:
  const Options& options_;
  uint64_t seed_;
  Graph timed_;
  std::vector<Between> row_;
  Graph scored_;
  GateRule rule_;
  Scorer scorer_;
  NetworkBench bench_;

  static BenchOptions bench_options(const Options& options) {
    BenchOptions bench;
    bench.threads = options.threads;
    bench.seconds = options.seconds;
    bench.max_error = options.score.tuned.max_error;
    return bench;
  }

  Model evaluated(const Between& between, const std::vector<Scores>& original) {
    Model model{between};
    model.name = name_of(model.between, options_);
    Graph graph = transformed(timed_, model.between.recipe);
    set_costs(model, graph);
    model.times = bench_.measure(initialised(graph, seed_));
    Graph untrained = transformed(scored_, model.between.recipe);
    model.verdict = judge(rule_, compared(original, scorer_.run(untrained, rule_.metrics())));
    return model;
  }
};

nlohmann::json to_json(const Model& model) {
  nlohmann::json json{{"name", model.name},           {"way", name_of(model.between.way)},
                      {"part", model.between.part},   {"recipe", to_json(model.between.recipe)},
                      {"macs", model.macs},           {"weights", model.weights},
                      {"ratio", model.verdict.ratio}, {"accepted", model.verdict.accepted},
                      {"pareto", model.is_best}};
  if (model.verdict.predicts) json["predicted"] = model.verdict.predicted;
  if (model.times.failure.empty()) {
    json["ms"] = model.times.time * 1e3;
    json["original_ms"] = model.times.own * 1e3;
  } else {
    json["failure"] = model.times.failure;
  }
  return json;
}

void print_csv(const std::vector<Model>& models) {
  fmt::print("way,part,macs,weights,ms,original_ms,fisher,predicted,pareto\n");
  for (const Model& model : models) {
    fmt::print("{},{:.4g},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{}\n", name_of(model.between.way),
               model.between.part, model.macs, model.weights, model.times.time * 1e3,
               model.times.own * 1e3, model.verdict.ratio, model.verdict.predicted,
               model.is_best ? 1 : 0);
  }
}

void print_table(const std::vector<Model>& models) {
  fmt::print("{:<27} {:>9} {:>9} {:>8} {:>6} {:>6} {:>7}\n", "network", "MACs", "weights", "ms",
             "gain", "fisher", "points");
  for (const Model& model : models) {
    bool timed = model.times.failure.empty();
    fmt::print("{:<27.27} {:>9} {:>9} {:>8} {:>6} {:>6.3g} {:>7}{}\n", model.name,
               print_short(model.macs), print_short(model.weights),
               timed ? fmt::format("{:.3f}", model.times.time * 1e3) : "failed",
               timed ? fmt::format("{:.2f}x", speed_up(model)) : "", model.verdict.ratio,
               model.verdict.predicts ? fmt::format("{:+.2f}", model.verdict.predicted) : "-",
               model.is_best ? " *" : "");
  }
  fmt::print(
      "\nfisher: times the original's. points: the change of accuracy to expect.\n"
      "*: no other of these is as fast and expected to be as accurate.\n");
}

void write_plot(const std::vector<Model>& models, const Options& options) {
  Plot plot{.title = fmt::format("{}: from {} to {}", options.score.network.network, options.first,
                                 options.second),
            .x = {"latency, ms"},
            .y = {"expected change of accuracy, points"}};
  plot.series = {{"the two networks", {}, Marker::square},
                 {"filters in between", {}, Marker::circle},
                 {"layers in between", {}, Marker::triangle}};
  for (const Model& model : models) {
    if (!model.times.failure.empty()) continue;
    plot.series[static_cast<size_t>(model.between.way)].points.push_back(
        {model.times.time * 1e3, model.verdict.predicted, model.name});
  }
  std::string svg = print_svg(plot);
  write_file(options.plot, {std::as_bytes(std::span(svg))});
}

int run(const Options& options) {
  std::vector<Model> models = Row(options).run();
  if (options.json) {
    nlohmann::json json = nlohmann::json::array();
    for (const Model& model : models) json.push_back(to_json(model));
    fmt::print("{}\n", json.dump(2));
  } else if (options.csv) {
    print_csv(models);
  } else {
    print_table(models);
  }
  if (!options.plot.empty()) write_plot(models, options);
  return 0;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->score.samples = 32;
  options->score.seeds = 2;
  add_network_arguments(app, options->score.network);
  app.add_option("FIRST", options->first, "the recipe of one network, like 'group(2)'")->required();
  app.add_option("SECOND", options->second, "the recipe of the other, like 'group(4)'")->required();
  app.add_option("--points", options->between.points, "networks between the two")
      ->check(CLI::Range(0, 1000));
  app.add_option("--layer", options->between.layers,
                 "convolutions that change, where both recipes apply: a pattern");
  app.add_option("--rule", options->rule, "that predicts the accuracy: two-sided, or paper");
  add_data_arguments(app, options->score);
  app.add_option("--seed", options->score.network.seed, "the first seed");
  app.add_option("--seconds", options->seconds, "of measuring each network")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", options->threads, "workers that networks run with")
      ->check(CLI::Range(1, 256));
  app.add_option("--plot", options->plot, "an .svg file to draw them in");
  auto* json = app.add_flag("--json", options->json, "print JSON, with the recipes");
  app.add_flag("--csv", options->csv, "print a table for spreadsheets")->excludes(json);
  return [options] { return run(*options); };
}

}  // namespace

Verb interpolate() { return {"interpolate", "show the networks between two networks", prepare}; }

}  // namespace lathe::cli
