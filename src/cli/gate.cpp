// gate.cpp: "lathe gate NETWORK RECIPE": may a network be changed so? The verdict, how sure it is,
// and why.
#include "base/error.h"
#include "cli/verb_scores.h"
#include "legality/legality_gate.h"

namespace lathe::cli {
namespace {

struct Options {
  ScoreArguments score;
  std::string layer, recipe, rule = "two-sided";
  bool json = false;
};

NetworkRecipe recipe_of(const Options& options) {
  if (options.layer.empty()) return load_network_recipe("RECIPE", options.recipe);
  return {{options.layer, parse_recipe(options.recipe)}};
}

void print_rule(const GateRule& rule) {
  if (rule.is_paper) {
    fmt::print("rule        paper: accepted if fisher is not below the original's\n");
    return;
  }
  fmt::print("rule        {}: fisher within {:.2g} to {:.2g} times the original's,\n", rule.name,
             std::exp(-rule.network_band), std::exp(rule.network_band));
  fmt::print("            of each layer within {:.2g} to {:.2g}; and no more than {:.2g} points\n",
             std::exp(-rule.layer_band), std::exp(rule.layer_band), rule.tolerance);
  fmt::print("            are lost, as predicted by {:.3g}", rule.intercept);
  for (size_t i = 0; i < rule.features.size(); ++i) {
    fmt::print(" {} {:.3g} {}({})", rule.weights[i] < 0 ? '-' : '+', std::abs(rule.weights[i]),
               name_of(rule.features[i].form), rule.features[i].metric);
  }
  fmt::print("\nfitted to   {}\n", rule.source);
}

void print_verdict(const Options& options, const GateRule& rule, const GateVerdict& verdict) {
  fmt::print("{}: {:.0f} % sure\n", verdict.accepted ? "accepted" : "refused", 100 * verdict.sure);
  fmt::print("why         {}\n", verdict.reason);
  fmt::print("fisher      {:.3g} times the original's", verdict.ratio);
  if (options.score.seeds > 1) {
    fmt::print(" ({:.3g} to {:.3g}, 95 %)", verdict.interval.low, verdict.interval.high);
  }
  fmt::print("; {}\n", describe(options.score));
  std::vector<LayerMove> layers = verdict.layers;
  std::sort(layers.begin(), layers.end(), [](const LayerMove& a, const LayerMove& b) {
    return std::abs(a.log_ratio) > std::abs(b.log_ratio);
  });
  if (!layers.empty()) {
    fmt::print("moved most ");
    for (size_t i = 0; i < std::min<size_t>(3, layers.size()); ++i) {
      fmt::print(" {} {:.3g}", layers[i].layer, std::exp(layers[i].log_ratio));
    }
    fmt::print("\n");
  }
  if (verdict.predicts) {
    fmt::print("prediction  the accuracy changes by {:+.2f} points, give or take {:.2f}\n",
               verdict.predicted, verdict.uncertainty);
  }
  print_rule(rule);
}

nlohmann::json report(const GateRule& rule, const GateVerdict& verdict) {
  nlohmann::json layers = nlohmann::json::array();
  for (const LayerMove& layer : verdict.layers) {
    layers.push_back({{"layer", layer.layer}, {"ratio", std::exp(layer.log_ratio)}});
  }
  nlohmann::json result{{"accepted", verdict.accepted},
                        {"sure", verdict.sure},
                        {"reason", verdict.reason},
                        {"ratio", verdict.ratio},
                        {"interval", {verdict.interval.low, verdict.interval.high}},
                        {"layers", layers},
                        {"rule", to_json(rule)}};
  if (verdict.predicts) {
    result["prediction"] = {{"points", verdict.predicted}, {"deviation", verdict.uncertainty}};
  }
  return result;
}

int run(const Options& options) {
  GateRule rule = find_rule(options.rule);
  Graph original = load_untrained(options.score);
  Graph candidate = transformed(original, recipe_of(options));
  ProgressBar bar("scoring");
  size_t before = 0;
  Scorer scorer = make_scorer(options.score, [&](size_t done, size_t count) {
    bar.show(before + done, 2 * count);
  });
  std::vector<Scores> first = scorer.run(original, rule.metrics());
  before = first.front().of_seeds.size();
  GateVerdict verdict = judge(rule, compared(first, scorer.run(candidate, rule.metrics())));
  bar.show(2 * before, 2 * before);
  if (options.json) {
    fmt::print("{}\n", report(rule, verdict).dump(2));
  } else {
    print_verdict(options, rule, verdict);
  }
  return verdict.accepted ? 0 : 1;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_score_arguments(app, options->score);
  app.add_option("RECIPE", options->recipe,
                 "how layers are changed: 'LAYERS: RECIPE', a .json file, or a recipe for --layer")
      ->required();
  app.add_option("--layer", options->layer, "the layers to change: a name, or a pattern");
  app.add_option("--rule", options->rule, "two-sided, or paper: the published one");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run(*options); };
}

}  // namespace

Verb gate() { return {"gate", "judge whether a network keeps its capacity", prepare}; }

}  // namespace lathe::cli
