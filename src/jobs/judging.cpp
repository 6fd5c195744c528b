// judging.cpp: see judging.h.
#include "jobs/judging.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/error.h"
#include "capacity/first_order.h"
#include "capacity/importance.h"
#include "capacity/judgeable.h"
#include "capacity/kept.h"
#include "jobs/fit.h"
#include "jobs/outputs.h"
#include "program/rebatch.h"
#include "transforms/transform_precision.h"

namespace lathe {
namespace {

constexpr size_t important_minibatches = 8;  // that importance is told by
constexpr long validating_samples = 2000;
constexpr long compared_samples = 256;  // by outputs, each of which has many elements
constexpr size_t most_remembered = 8;   // networks that were fitted last

SearchJudge judge_untrained(const ScoreArguments& arguments, const GateRule& rule) {
  auto scorer = std::make_shared<Scorer>(make_scorer(arguments));
  auto scored = std::make_shared<Graph>(load_judged(arguments));
  SearchJudge result;
  result.network = load_network(arguments.network);
  result.rule = suited(rule, result.network, scorer->dataset());
  std::vector<Metric> metrics = result.rule.metrics();
  result.layers = std::make_unique<FirstOrder>(*scored, *scorer, metrics, arguments.network.seed);
  auto original = std::make_shared<std::vector<Scores>>();  // evaluated when it is first needed
  auto last = std::make_shared<std::pair<std::string, std::vector<Comparison>>>();
  result.compare = [=](const NetworkRecipe& recipe) {
    if (original->empty()) *original = scorer->run(*scored, metrics);
    std::string key = print(without_precisions(recipe));  // which scores do not depend on
    if (last->second.empty() || last->first != key) {
      *last = {key, compared(*original, scorer->run(transformed(*scored, recipe), metrics))};
    }
    return last->second;
  };
  return result;
}

/// May work be given up when the listener asks for it?
enum class Stopping { allowed, refused };

/// A trained network, and what is asked of it.
class TrainedNetwork {
 public:
  TrainedNetwork(const ScoreArguments& arguments, const Graph& network, const JobListener& listener)
      : arguments_(arguments),
        listener_(listener),
        data_(load_dataset(arguments.data, Split::learnt, *normalize_named(arguments.normalize))),
        order_(found_order(network)),
        network_(transformed(network, order_)) {}

  const NetworkRecipe& order() const { return order_; }
  const Graph& network() const { return network_; }

  std::unique_ptr<KeptShares> layers(const std::vector<Metric>& metrics) const {
    KeptOptions how;
    how.target = native_target();
    how.threads = workers_of(arguments_);
    how.progress = progress("layers looked at", Stopping::allowed);
    return std::make_unique<KeptShares>(network_, minibatches_of(data_, network_, fitted_samples),
                                        metrics, how);
  }

  FittedNetwork fitted(const NetworkRecipe& recipe, Stopping stopping) {
    std::string key = print(without_precisions(recipe));
    for (const auto& [known, network] : last_) {
      if (known == key) return network;
    }
    FitOptions how;
    how.target = native_target();
    how.threads = workers_of(arguments_);
    how.progress = progress("layers fitted", stopping);
    Fit fit = fit_recipe(network_, recipe, data_, fitted_samples, how);
    Agreement agreement = agreement_of(fit.network);
    last_.push_back({key, {std::move(fit), agreement}});
    if (last_.size() > most_remembered) last_.pop_front();
    return last_.back().second;
  }

  Agreement agreement_of(const Graph& network) const {
    int threads = workers_of(arguments_);
    JobListener tells{listener_.tell};
    if (is_by_outputs(arguments_)) {
      OutputsCompared found =
          compare_outputs(network_, network, validating(), compared_samples, threads, tells);
      return {found.explained(), found.samples};
    }
    AnswerCounts found = validated(network, validating(), validating_samples, threads, tells);
    return {found.top1(), found.samples};
  }

  /// Returns how good the original is, which is looked at when it is first needed.
  const Agreement& agreement() {
    if (!own_) own_ = agreement_of(network_);
    return *own_;
  }

 private:
  ScoreArguments arguments_;
  JobListener listener_;
  Dataset data_;
  NetworkRecipe order_;
  Graph network_;
  std::optional<Agreement> own_;
  std::deque<std::pair<std::string, FittedNetwork>> last_;  ///< by their recipes

  Dataset validating() const {
    return load_dataset(arguments_.data, Split::validation, *normalize_named(arguments_.normalize));
  }

  /// Returns how much each output counts, so that all of them count alike; nothing if it is labels
  /// that count.
  std::vector<double> output_weights(const Graph& network) const {
    std::vector<double> result;
    if (!is_by_outputs(arguments_)) return result;
    for (const OutputCompared& each :
         compare_outputs(network, network, data_, arguments_.samples, workers_of(arguments_))
             .outputs) {
      double all = each.variance * static_cast<double>(each.elements);
      result.push_back(all > 0 ? 1 / std::sqrt(all) : 0);
    }
    return result;
  }

  std::function<void(size_t, size_t)> progress(const char* what, Stopping stopping) const {
    return [this, what, stopping](size_t done, size_t all) {
      if (stopping == Stopping::allowed && listener_.is_stopped()) throw JobStopped();
      listener_(WorkDone{what, done, all});
    };
  }

  NetworkRecipe found_order(const Graph& network) const {
    ScoreArguments often = arguments_;
    often.seeds = important_minibatches;
    Scorer scorer = make_scorer(often, progress("minibatches for importance", Stopping::allowed),
                                output_weights(network));
    return most_important_first(
        network, importance_of(rebatched(network, often.samples), scorer, Importance::fisher));
  }
};

SearchJudge judge_trained(const ScoreArguments& arguments, const Graph& network,
                          const GateRule& rule, const JobListener& listener) {
  auto trained = std::make_shared<TrainedNetwork>(arguments, network, listener);
  SearchJudge result;
  result.is_trained = true;
  result.network = trained->network();
  result.order = trained->order();
  bool is_for_trained = rule.metrics().front().contributes.use == Contribution::Use::trained;
  result.rule =
      suited(is_for_trained ? rule : find_rule("trained"), network, dataset_of(arguments));
  if (is_by_outputs(arguments)) {
    result.rule.caveat =
        "the rule is of how often networks are right; here a point is a percent of what the "
        "original's outputs vary";
  }
  std::vector<Metric> metrics = result.rule.metrics();
  result.layers = trained->layers(metrics);
  result.fit = [=](const NetworkRecipe& recipe) {
    return trained->fitted(recipe, Stopping::refused);
  };
  result.agreement = [=] { return trained->agreement(); };
  result.agreement_of = [=](const Graph& other) { return trained->agreement_of(other); };
  result.compare = [=](const NetworkRecipe& recipe) {
    FittedNetwork fitted = trained->fitted(recipe, Stopping::allowed);
    double gained = fitted.agreement.percent - trained->agreement().percent;
    return compared_trained(trained->network(), fitted.fit, metrics, gained);
  };
  return result;
}

/// Says whether a search uses what a network has learnt: its weights have data, and there are
/// samples that it was trained for; or its outputs are all that counts.
bool uses_weights(const Graph& network, const ScoreArguments& arguments) {
  return is_trained(network) && (is_by_outputs(arguments) || dataset_of(arguments) != "synthetic");
}

}  // namespace

std::shared_ptr<SearchJudge> judge_for(const ScoreArguments& arguments, const GateRule& rule,
                                       const JobListener& listener) {
  Graph network = load_network(arguments.network);
  if (is_by_outputs(arguments) && !is_trained(network)) {
    fail("--loss output: '{}' has weights without data: it has no outputs to keep",
         arguments.network.network);
  }
  return std::make_shared<SearchJudge>(uses_weights(network, arguments)
                                           ? judge_trained(arguments, network, rule, listener)
                                           : judge_untrained(arguments, rule));
}

}  // namespace lathe
