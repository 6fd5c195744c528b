// gate.cpp: the gate as a job. Interface: gate.h.
#include "jobs/gate.h"

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "capacity/first_order.h"
#include "program/layers.h"
#include "transforms/transform_kinds.h"

namespace lathe {
namespace {

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

/// A network drawn at random: for each layer the number of its recipe.
using Drawn = std::vector<size_t>;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check_stopped(const JobListener& listener) {
  if (listener.is_stopped()) fail("stopped before the networks were judged");
}

std::vector<Choices> choices_of(const Graph& network) {
  Context context;
  std::vector<Choices> result;
  for (size_t n : changeable_layers(network)) {
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

NetworkRecipe recipe_of(const Drawn& drawn, const std::vector<Choices>& choices) {
  NetworkRecipe result;
  for (size_t l = 0; l < choices.size(); ++l) {
    const Recipe& recipe = choices[l].recipes[drawn[l]];
    if (!recipe.empty()) result.push_back({pattern_of(choices[l].layer), recipe});
  }
  return result;
}

/// Random networks, judged.
class RandomGate {
 public:
  RandomGate(const GateJobOptions& options, const JobListener& listener)
      : options_(options),
        listener_(listener),
        seed_(options.score.network.seed),
        network_(load_judged(options.score)),
        choices_(choices_of(network_)),
        scorer_(make_scorer(options.score)),
        start_(Clock::now()),
        first_(network_, scorer_, options.rule.metrics(), seed_) {
    result_.original_seconds = seconds_since(start_);
  }

  RandomJudgement run(const RandomNetworks& how) {
    draw(how.networks);
    start_ = Clock::now();
    score_layers();
    for (const Drawn& each : drawn_) {
      Comparison comparison = compare(each);
      result_.accepted += is_within_bands(options_.rule, comparison) ? 1 : 0;
      result_.log_ratios.push_back(comparison.log_ratios[0]);
    }
    result_.seconds = seconds_since(start_);
    start_ = Clock::now();
    evaluate(std::min(how.exact, drawn_.size()));
    result_.exact_seconds = seconds_since(start_);
    return std::move(result_);
  }

 private:
  const GateJobOptions& options_;
  const JobListener& listener_;
  uint64_t seed_;
  Graph network_;
  std::vector<Choices> choices_;
  Scorer scorer_;
  Clock::time_point start_;
  FirstOrder first_;
  std::vector<Drawn> drawn_;
  RandomJudgement result_;

  void draw(size_t count) {
    Random random(seed_, "configurations");
    drawn_.resize(count);
    for (Drawn& each : drawn_) {
      for (const Choices& layer : choices_) each.push_back(random.below(layer.recipes.size()));
    }
  }

  /// Scores all layers that were drawn, by several workers, so that networks of them are known.
  void score_layers() {
    std::vector<std::pair<size_t, size_t>> jobs;
    for (size_t l = 0; l < choices_.size(); ++l) {
      for (size_t r = 0; r < choices_[l].recipes.size(); ++r) {
        bool used =
            std::any_of(drawn_.begin(), drawn_.end(), [&](const Drawn& d) { return d[l] == r; });
        if (used) jobs.emplace_back(l, r);
      }
    }
    for_each_index(jobs.size(), scorer_.options().threads, [&](size_t i) {
      if (listener_.is_stopped()) return;
      auto [l, r] = jobs[i];
      first_.change(choices_[l].layer, choices_[l].recipes[r]);
    });
    check_stopped(listener_);
  }

  /// Compares a network with the original to first order.
  Comparison compare(const Drawn& drawn) {
    std::map<std::string, Recipe> changed;
    for (size_t l = 0; l < choices_.size(); ++l) {
      changed[choices_[l].layer] = choices_[l].recipes[drawn[l]];
    }
    std::vector<LayerScore> scores = first_.scores(changed);
    Comparison result{first_.metrics().front().name, {}, {}, {}};
    double before = 0, after = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
      double was = first_.original()[i].score, is = scores[i].score;
      before += was;
      after += is;
      if (was > 0 && is > 0) result.layers.push_back({scores[i].layer, std::log(is / was)});
    }
    result.log_ratios = {std::log(after / before)};
    result.differences = {after - before};
    return result;
  }

  /// Evaluates the first networks exactly.
  void evaluate(size_t count) {
    double total = 0;
    for (const LayerScore& layer : first_.original()) total += layer.score;
    for (size_t i = 0; i < count; ++i) {
      check_stopped(listener_);
      Graph changed = transformed(network_, recipe_of(drawn_[i], choices_));
      Evaluation evaluation(initialised(changed, seed_), scorer_.batch(changed, seed_),
                            scorer_.evaluation(changed, seed_));
      result_.exact_ratios.push_back(
          std::log(evaluation.run({first_.metrics().front()})[0].total / total));
      listener_(WorkDone{"networks evaluated", i + 1, count});
    }
    std::vector<double> approximate(result_.log_ratios.begin(),
                                    result_.log_ratios.begin() + static_cast<long>(count));
    if (count > 2) result_.agreement = spearman(approximate, result_.exact_ratios);
  }
};

}  // namespace

GateVerdict judge_network(const GateJobOptions& options, const JobListener& listener) {
  const std::vector<Metric> metrics = options.rule.metrics();
  Graph original = load_judged(options.score);
  Graph candidate = transformed(original, options.recipe);
  auto seeds = static_cast<size_t>(options.score.seeds);
  size_t before = 0;
  Scorer scorer = make_scorer(options.score, [&](size_t done, size_t all) {
    listener(WorkDone{"evaluations", before + done * seeds / all, 2 * seeds});
  });
  std::vector<Scores> first = scorer.run(original, metrics);
  before = seeds;
  check_stopped(listener);
  std::vector<Scores> second = scorer.run(candidate, metrics);
  listener(WorkDone{"evaluations", 2 * seeds, 2 * seeds});
  GateVerdict verdict =
      judge(suited(options.rule, original, scorer.dataset()), compared(first, second));
  verdict.mixing = MixingChange{mixing_of(original), mixing_of(candidate)};
  return verdict;
}

nlohmann::json to_json(const GateRule& rule, const GateVerdict& verdict) {
  nlohmann::json layers = nlohmann::json::array();
  for (const LayerMove& layer : verdict.layers) {
    layers.push_back({{"layer", layer.layer}, {"ratio", std::exp(layer.log_ratio)}});
  }
  nlohmann::json result{{"accepted", verdict.accepted},
                        {"reason", verdict.reason},
                        {"ratio", verdict.ratio},
                        {"layers", layers},
                        {"rule", to_json(rule)}};
  if (verdict.sure) result["sure"] = *verdict.sure;
  if (verdict.interval) result["interval"] = {verdict.interval->low, verdict.interval->high};
  if (verdict.predicted) {
    Interval interval = verdict.predicted->interval();
    result["prediction"] = {{"interval", {interval.low, interval.high}}};
    if (verdict.caveat.empty()) {
      result["prediction"]["points"] = verdict.predicted->points;
      result["prediction"]["deviation"] = verdict.predicted->deviation;
    }
  }
  if (!verdict.caveat.empty()) result["caution"] = verdict.caveat;
  if (verdict.mixing) {
    auto shares = [](const Mixing& m) {
      return nlohmann::json{{"connected", m.connected},
                            {"neighbours", m.neighbours},
                            {"across", m.across},
                            {"dead", m.dead}};
    };
    result["mixing"] = {{"original", shares(verdict.mixing->before)},
                        {"changed", shares(verdict.mixing->after)}};
  }
  return result;
}

RandomJudgement judge_random(const GateJobOptions& options, const RandomNetworks& how,
                             const JobListener& listener) {
  return RandomGate(options, listener).run(how);
}

}  // namespace lathe
