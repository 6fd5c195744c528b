// gate.cpp: "lathe gate NETWORK RECIPE": may a network be changed so? The verdict, how sure it is,
// and why. With --random, many networks are judged to first order, and some of them exactly.
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "capacity/first_order.h"
#include "capacity/gate.h"
#include "cli/verb_nest.h"
#include "cli/verb_scores.h"
#include "transforms/transform_kinds.h"

namespace lathe::cli {
namespace {

struct Options {
  ScoreArguments score;
  std::string layer, recipe, rule = "two-sided";
  long random = 0, confirmed = 0;
  bool json = false;
};

NetworkRecipe recipe_for(const Options& options) {
  if (options.layer.empty()) return load_network_recipe("RECIPE", options.recipe);
  return {{options.layer, parse_recipe(options.recipe)}};
}

/// Prints a line of the verdict, in 80 columns.
void print_line(const std::string& head, const std::string& text) {
  constexpr size_t indent = 12;
  fmt::print("{:<{}}{}\n", head, indent, wrapped(text, indent, indent));
}

void print_rule(const GateRule& rule) {
  if (rule.is_paper) {
    print_line("rule", "paper: accepted if fisher is not below the original's");
    return;
  }
  std::string text = fmt::format(
      "{}: fisher within {:.2g} to {:.2g} times the original's, of each layer within {:.2g} to "
      "{:.2g}; and no more than {:.2g} points are lost, as predicted by {:.3g}",
      rule.name, std::exp(-rule.network_band), std::exp(rule.network_band),
      std::exp(-rule.layer_band), std::exp(rule.layer_band), rule.tolerance, rule.intercept);
  for (size_t i = 0; i < rule.features.size(); ++i) {
    if (rule.weights[i] == 0) continue;
    text +=
        fmt::format(" {} {:.3g} {}({})", rule.weights[i] < 0 ? '-' : '+', std::abs(rule.weights[i]),
                    name_of(rule.features[i].form), rule.features[i].metric);
  }
  print_line("rule", text);
  print_line("fitted to", rule.source);
}

void print_verdict(const Options& options, const GateRule& rule, const GateVerdict& verdict) {
  fmt::print("{}: {:.0f} % sure\n", verdict.accepted ? "accepted" : "refused", 100 * verdict.sure);
  print_line("why", verdict.reason);
  std::string ratio = fmt::format("{:.3g} times the original's", verdict.ratio);
  if (options.score.seeds > 1) {
    ratio += fmt::format(" ({:.3g} to {:.3g}, 95 %)", verdict.interval.low, verdict.interval.high);
  }
  print_line("fisher", ratio + "; " + describe(options.score));
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

// Many networks, to first order.

/// What a layer may become, drawn at random.
const std::vector<std::string> kinds = {"dense",  "group-2",  "group-4",  "group-8",   "group-16",
                                        "dw",     "seq3-1-4", "seq3-2-4", "seq2-16-2", "stripe-2",
                                        "botx-2", "botx-4",   "botr-2",   "botr-4",    "boti-2",
                                        "boti-4", "bots-2"};

/// The layers of a network with what each may become.
struct Choices {
  std::string layer;
  std::vector<Recipe> recipes;
};

std::vector<Choices> choices_of(const Graph& network) {
  Context context;
  std::vector<Choices> result;
  for (size_t n : table_layers(network)) {
    Nest nest = nest_of(context, call_of(network, network.nodes[n]));
    Choices choices{network.nodes[n].name, {}};
    for (const std::string& kind : kinds) {
      if (auto recipe = recipe_of_kind(nest, kind)) choices.recipes.push_back(*recipe);
    }
    result.push_back(std::move(choices));
  }
  if (result.empty()) fail("'{}' has no 3x3 convolution to change", network.name);
  return result;
}

/// A network drawn at random: for each layer the number of its recipe.
using Drawn = std::vector<size_t>;

NetworkRecipe recipe_of(const Drawn& drawn, const std::vector<Choices>& choices) {
  NetworkRecipe result;
  for (size_t l = 0; l < choices.size(); ++l) {
    const Recipe& recipe = choices[l].recipes[drawn[l]];
    if (!recipe.empty()) result.push_back({pattern_of(choices[l].layer), recipe});
  }
  return result;
}

/// Scores all layers that were drawn, by several workers, so that networks of them are known.
void score_layers(FirstOrder& first, const std::vector<Choices>& choices,
                  const std::vector<Drawn>& drawn, int threads) {
  std::vector<std::pair<size_t, size_t>> jobs;
  for (size_t l = 0; l < choices.size(); ++l) {
    for (size_t r = 0; r < choices[l].recipes.size(); ++r) {
      bool used =
          std::any_of(drawn.begin(), drawn.end(), [&](const Drawn& d) { return d[l] == r; });
      if (used) jobs.emplace_back(l, r);
    }
  }
  for_each_index(jobs.size(), threads, [&](size_t i) {
    auto [l, r] = jobs[i];
    first.change(choices[l].layer, choices[l].recipes[r]);
  });
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Compares a network with the original to first order.
Comparison compare(FirstOrder& first, const Drawn& drawn, const std::vector<Choices>& choices) {
  std::map<std::string, Recipe> changed;
  for (size_t l = 0; l < choices.size(); ++l) {
    changed[choices[l].layer] = choices[l].recipes[drawn[l]];
  }
  std::vector<LayerScore> scores = first.scores(changed);
  Comparison result{"fisher", {}, {}, {}};
  double before = 0, after = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    double was = first.original()[i].score, is = scores[i].score;
    before += was;
    after += is;
    if (was > 0 && is > 0) result.layers.push_back({scores[i].layer, std::log(is / was)});
  }
  result.log_ratios = {std::log(after / before)};
  result.differences = {after - before};
  return result;
}

int run_random(const Options& options) {
  GateRule rule = find_rule(options.rule);
  Graph network = load_untrained(options.score);
  Scorer scorer = make_scorer(options.score);
  uint64_t seed = options.score.network.seed;
  auto start = std::chrono::steady_clock::now();
  FirstOrder first(network, scorer, seed);
  double evaluated = seconds_since(start);
  start = std::chrono::steady_clock::now();
  std::vector<Choices> choices = choices_of(network);
  Random random(seed, "configurations");
  std::vector<Drawn> drawn(static_cast<size_t>(options.random));
  for (Drawn& each : drawn) {
    for (const Choices& layer : choices) each.push_back(random.below(layer.recipes.size()));
  }
  score_layers(first, choices, drawn, scorer.options().threads);
  size_t accepted = 0;
  std::vector<double> ratios;
  for (const Drawn& each : drawn) {
    Comparison comparison = compare(first, each, choices);
    accepted += is_within_bands(rule, comparison) ? 1 : 0;
    ratios.push_back(comparison.log_ratios[0]);
  }
  double judged = seconds_since(start);
  start = std::chrono::steady_clock::now();
  std::vector<double> exact, approximate;
  double total = 0;
  for (const LayerScore& layer : first.original()) total += layer.score;
  ProgressBar bar("exactly");
  auto confirmed = std::min(static_cast<size_t>(options.confirmed), drawn.size());
  for (size_t i = 0; i < confirmed; ++i) {
    bar.show(i, confirmed);
    Graph changed = transformed(network, recipe_of(drawn[i], choices));
    Evaluation evaluation(initialised(changed, seed), scorer.batch(seed), scorer.evaluation(seed));
    exact.push_back(std::log(evaluation.run({find_metric("fisher")})[0].total / total));
    approximate.push_back(ratios[i]);
  }
  double took = seconds_since(start);
  std::optional<double> agreement;
  if (confirmed > 2) agreement = spearman(approximate, exact);
  if (options.json) {
    nlohmann::json report{{"networks", drawn.size()},   {"accepted", accepted},
                          {"exact_seconds", evaluated}, {"seconds", judged},
                          {"log_ratios", ratios},       {"exact_log_ratios", exact}};
    if (agreement) report["rank_agreement"] = *agreement;
    fmt::print("{}\n", report.dump(2));
    return 0;
  }
  fmt::print("{} random networks made of {}, judged to first order in {:.1f} s\n", drawn.size(),
             options.score.network.network, judged);
  fmt::print("(after one exact evaluation of the original, {:.1f} s); {} accepted\n", evaluated,
             accepted);
  if (agreement) {
    fmt::print("{} of them evaluated exactly in {:.1f} s: rank agreement {:.2f}\n", confirmed, took,
               *agreement);
  }
  return 0;
}

int run(const Options& options) {
  if (options.random > 0) return run_random(options);
  if (options.recipe.empty()) fail("say how layers are changed, or --random N");
  GateRule rule = find_rule(options.rule);
  Graph original = load_untrained(options.score);
  Graph candidate = transformed(original, recipe_for(options));
  ProgressBar bar("scoring");
  size_t before = 0;
  Scorer scorer = make_scorer(
      options.score, [&](size_t done, size_t count) { bar.show(before + done, 2 * count); });
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
                 "how layers are changed: 'LAYERS: RECIPE', a .json file, or a recipe for --layer");
  app.add_option("--layer", options->layer, "the layers to change: a name, or a pattern");
  app.add_option("--rule", options->rule, "two-sided, or paper: the published one");
  app.add_option("--random", options->random,
                 "judge so many random networks to first order, instead of one");
  app.add_option("--exact", options->confirmed, "and so many of them exactly, to compare");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run(*options); };
}

}  // namespace

Verb gate() { return {"gate", "judge whether a network keeps its capacity", prepare}; }

}  // namespace lathe::cli
