// interpolate.cpp: "lathe interpolate NETWORK RECIPE RECIPE": networks between two networks, what
// they take and what they keep. Figure 9 of the paper.
#include "jobs/interpolate.h"

#include <nlohmann/json.hpp>

#include "cli/verb_listener.h"
#include "cli/verb_nest.h"
#include "cli/verb_scores.h"
#include "data/file.h"

namespace lathe::cli {
namespace {

struct InterpolateArgs {
  InterpolateOptions job;
  std::string first, second, rule = "two-sided", plot;
  bool json = false, csv = false;

  InterpolationEnds ends() const { return {first, second}; }
};

using Model = InterpolatedNetwork;

/// Names the metric whose ratio is shown: the one that the rule's bands are of.
std::string shown_metric(const InterpolateArgs& options) {
  return find_rule(options.rule).metrics().front().name;
}

void print_csv(const std::vector<Model>& models, const InterpolateArgs& options) {
  fmt::print("way,part,macs,weights,ms,original_ms,{},predicted,pareto\n", shown_metric(options));
  for (const Model& model : models) {
    bool predicts = model.verdict.predicted && model.verdict.caveat.empty();
    fmt::print("{},{:.4g},{},{},{:.6g},{:.6g},{:.6g},{},{}\n", name_of(model.between.way),
               model.between.part, model.macs, model.weights, model.times.time * 1e3,
               model.times.own * 1e3, model.verdict.ratio,
               predicts ? fmt::format("{:.6g}", model.points()) : "", model.is_best ? 1 : 0);
  }
}

/// Says what is expected: a number, or no more than an interval where the rule is for others.
std::string print_points(const Model& model) {
  if (!model.verdict.predicted) return "-";
  if (model.verdict.caveat.empty()) return fmt::format("{:+.2f}", model.points());
  Interval interval = model.verdict.predicted->interval();
  return fmt::format("{:+.1f}..{:+.1f}", interval.low, interval.high);
}

void print_table(const std::vector<Model>& models, const InterpolateArgs& options) {
  const std::string caveat = models.empty() ? "" : models.front().verdict.caveat;
  if (!caveat.empty()) fmt::print("{}\n\n", wrapped(caveat, 0, 0));
  fmt::print("{:<27} {:>9} {:>9} {:>8} {:>6} {:>6} {:>7}\n", "network", "MACs", "weights", "ms",
             "gain", shown_metric(options), "points");
  for (const Model& model : models) {
    bool timed = model.times.failure.empty();
    fmt::print("{:<27.27} {:>9} {:>9} {:>8} {:>6} {:>6.3g} {:>7}{}\n",
               name_of(model.between, options.ends()), print_short(model.macs),
               print_short(model.weights),
               timed ? fmt::format("{:.3f}", model.times.time * 1e3) : "failed",
               timed ? fmt::format("{:.2f}x", model.speed_up()) : "", model.verdict.ratio,
               print_points(model), model.is_best ? " *" : "");
  }
  fmt::print(
      "\n{}: times the original's. points: the change of accuracy to expect.\n"
      "*: no other of these is as fast and expected to be as accurate.\n",
      shown_metric(options));
}

std::vector<Model> measured(const InterpolateArgs& options) {
  InterpolateOptions job = options.job;
  job.first = parse_recipe(options.first);
  job.second = parse_recipe(options.second);
  job.rule = find_rule(options.rule);
  JobBar bar("networks");
  return lathe::interpolate(job, bar.listener());
}

int run_interpolate(const InterpolateArgs& options) {
  std::vector<Model> models = measured(options);
  if (options.json) {
    nlohmann::json json = nlohmann::json::array();
    for (const Model& model : models) json.push_back(to_json(model, options.ends()));
    fmt::print("{}\n", json.dump(2));
  } else if (options.csv) {
    print_csv(models, options);
  } else {
    print_table(models, options);
  }
  if (!options.plot.empty()) {
    std::string svg = print_svg(picture_of(options.job, options.ends(), models));
    write_file(options.plot, {std::as_bytes(std::span(svg))});
  }
  return 0;
}

std::function<int()> set_up_interpolate(Command& app) {
  auto options = std::make_shared<InterpolateArgs>();
  add_network_arguments(app, options->job.score.network);
  app.add_option("FIRST", options->first, "the recipe of one network, like 'group(2)'")->required();
  app.add_option("SECOND", options->second, "the recipe of the other, like 'group(4)'")->required();
  app.add_option("--points", options->job.between.points,
                 "how many networks to make between the two")
      ->check(range(0, 1000));
  app.add_option("--layer PATTERN", options->job.between.layers,
                 "change only convolutions of this name, where both recipes apply");
  app.add_option(
      "--rule", options->rule,
      "that predicts the accuracy: two-sided, paper, or a file of calibrate --write-rule");
  add_data_arguments(app, options->job.score);
  app.add_option("--seed", options->job.score.network.seed, "the first seed");
  app.add_option("--seconds", options->job.seconds, "how long to measure each network")
      ->check(positive_number());
  app.add_option("--threads", options->job.threads, "number of workers that networks run with")
      ->check(range(1, 256));
  app.add_option("--plot FILE", options->plot, "draw the networks to an .svg file")->writes();
  auto* json = app.add_flag("--json", options->json, "print JSON, with the recipes");
  app.add_flag("--csv", options->csv, "print a table for spreadsheets")->excludes(json);
  return [options] { return run_interpolate(*options); };
}

}  // namespace

Verb interpolate() {
  return {"interpolate", "show the networks between two networks", set_up_interpolate,
          "lathe interpolate resnet18-cifar 'group(2)' 'group(4)' --points 3"};
}

}  // namespace lathe::cli
