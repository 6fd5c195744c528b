// gate.cpp: "lathe gate NETWORK RECIPE": may a network be changed so? The verdict, how sure it is,
// and why. With --random, many networks are judged to first order, and some of them exactly.
#include <cmath>

#include "base/error.h"
#include "cli/verb_listener.h"
#include "cli/verb_nest.h"
#include "cli/verb_scores.h"
#include "jobs/gate.h"

namespace lathe::cli {
namespace {

struct GateArgs {
  ScoreArguments score;
  std::string layer, recipe, rule = "two-sided";
  long random = 0, confirmed = 0;
  bool json = false;
};

NetworkRecipe recipe_for(const GateArgs& options) {
  if (options.layer.empty()) {
    const NetworkArguments& network = options.score.network;
    check_recipe(options.recipe, network.network, load_network(network));
    return load_network_recipe("RECIPE", options.recipe);
  }
  return {{options.layer, parse_recipe(options.recipe)}};
}

/// Prints a line of the verdict, in 80 columns.
void print_line(const std::string& head, const std::string& text) {
  constexpr size_t indent = 12;
  fmt::print("{:<{}}{}\n", head, indent, wrapped(text, indent, indent));
}

void print_rule(const GateRule& rule) {
  if (rule.is_paper) {
    print_line("rule", fmt::format("{}: accepted if {} is not below the original's", rule.name,
                                   rule.features.front().metric));
    return;
  }
  std::string text = fmt::format(
      "{}: {} within {:.2g} to {:.2g} times the original's, of each layer within {:.2g} to "
      "{:.2g}; and no more than {:.2g} points are lost, as predicted by",
      rule.name, rule.features.front().metric, std::exp(-rule.network_band),
      std::exp(rule.network_band), std::exp(-rule.layer_band), std::exp(rule.layer_band),
      rule.tolerance);
  for (size_t i = 0; i < rule.features.size(); ++i) {
    if (rule.weights[i] == 0) continue;
    text +=
        fmt::format(" {} {:.3g} {}({})", rule.weights[i] < 0 ? '-' : '+', std::abs(rule.weights[i]),
                    name_of(rule.features[i].form), rule.features[i].metric);
  }
  print_line("rule", text);
  print_line("fitted to", fmt::format("{}: {}", print(rule.origin), rule.source));
}

void print_verdict(const GateArgs& options, const GateRule& rule, const GateVerdict& verdict) {
  fmt::print("{}{}\n", verdict.accepted ? "accepted" : "refused", print_sure(verdict.sure));
  if (!verdict.caveat.empty()) print_line("caution", verdict.caveat);
  print_line("why", verdict.reason);
  std::string ratio = fmt::format("{:.3g} times the original's", verdict.ratio);
  if (verdict.interval) {
    ratio +=
        fmt::format(" ({:.3g} to {:.3g}, 95 %)", verdict.interval->low, verdict.interval->high);
  }
  print_line(rule.features.front().metric, ratio + "; " + describe(options.score));
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
  if (verdict.mixing) {
    for (const std::string& line : print_mixing(*verdict.mixing)) print_line("mixing", line);
  }
  if (verdict.predicted) print_line("prediction", print_prediction(verdict));
  print_rule(rule);
}

GateJobOptions job_of(const GateArgs& options) {
  GateJobOptions job;
  job.score = options.score;
  job.rule = find_rule(options.rule);
  return job;
}

void print_random(const GateArgs& options, const RandomJudgement& found) {
  size_t all = found.log_ratios.size();
  if (options.json) {
    nlohmann::json report{{"networks", all},
                          {"accepted", found.accepted},
                          {"exact_seconds", found.original_seconds},
                          {"seconds", found.seconds},
                          {"log_ratios", found.log_ratios},
                          {"exact_log_ratios", found.exact_ratios}};
    if (found.agreement) report["rank_agreement"] = *found.agreement;
    fmt::print("{}\n", report.dump(2));
    return;
  }
  fmt::print("{} random networks made of {}, judged to first order in {:.1f} s\n", all,
             options.score.network.network, found.seconds);
  fmt::print("(after one exact evaluation of the original, {:.1f} s); {} accepted\n",
             found.original_seconds, found.accepted);
  if (found.agreement) {
    fmt::print("{} of them evaluated exactly in {:.1f} s: rank agreement {:.2f}\n",
               found.exact_ratios.size(), found.exact_seconds, *found.agreement);
  }
}

int run_random(const GateArgs& options) {
  RandomNetworks how{static_cast<size_t>(options.random), static_cast<size_t>(options.confirmed)};
  RandomJudgement found;
  {
    JobBar bar("exactly");
    found = judge_random(job_of(options), how, bar.listener());
  }
  print_random(options, found);
  return 0;
}

int run_gate(const GateArgs& options) {
  if (options.random > 0) return run_random(options);
  if (options.recipe.empty()) fail("say how layers are changed, or --random N");
  GateJobOptions job = job_of(options);
  job.recipe = recipe_for(options);
  GateVerdict verdict;
  {
    JobBar bar("scoring");
    verdict = judge_network(job, bar.listener());
  }
  if (options.json) {
    fmt::print("{}\n", to_json(job.rule, verdict).dump(2));
  } else {
    print_verdict(options, job.rule, verdict);
  }
  return verdict.accepted ? 0 : 1;
}

std::function<int()> set_up_gate(Command& app) {
  auto options = std::make_shared<GateArgs>();
  add_score_arguments(app, options->score);
  app.add_option("RECIPE", options->recipe,
                 "how to change layers: 'NAMES: STEPS', or a .json or .recipe file; with --layer, "
                 "the steps alone");
  app.add_option("--layer PATTERN", options->layer,
                 "the layers to change, like layer1.0.conv1 or 'layer1.*'");
  app.add_option("--rule", options->rule,
                 "two-sided, paper (the published one), or a file of calibrate --write-rule");
  app.add_option("--random", options->random,
                 "judge so many random networks to first order, not one network exactly");
  app.add_option("--exact", options->confirmed,
                 "of the random networks, judge so many exactly, too");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_gate(*options); };
}

}  // namespace

Verb gate() {
  return {"gate", "judge whether a network keeps its capacity", set_up_gate,
          "lathe gate resnet18-cifar 'layer1.*: group(2)'"};
}

}  // namespace lathe::cli
