// judging.cpp: see judging.h.
#include "jobs/judging.h"

#include <algorithm>
#include <deque>

#include "base/error.h"
#include "capacity/first_order.h"
#include "capacity/importance.h"
#include "capacity/judgeable.h"
#include "capacity/kept.h"
#include "jobs/fit.h"
#include "program/rebatch.h"

namespace lathe {
namespace {

constexpr size_t important_minibatches = 8;  // that importance is told by
constexpr long validating_samples = 2000;
constexpr size_t most_remembered = 8;  // networks that were fitted last

SearchJudge judge_untrained(const ScoreArguments& arguments, const GateRule& rule) {
  auto scorer = std::make_shared<Scorer>(make_scorer(arguments));
  auto scored = std::make_shared<Graph>(load_judged(arguments));
  SearchJudge result;
  result.network = load_network(arguments.network);
  result.rule = suited(rule, result.network, scorer->dataset());
  std::vector<Metric> metrics = result.rule.metrics();
  result.layers = std::make_unique<FirstOrder>(*scored, *scorer, metrics, arguments.network.seed);
  auto original = std::make_shared<std::vector<Scores>>();  // evaluated when it is first needed
  result.compare = [=](const NetworkRecipe& recipe) {
    if (original->empty()) *original = scorer->run(*scored, metrics);
    return compared(*original, scorer->run(transformed(*scored, recipe), metrics));
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
    how.threads = workers_of(arguments_);
    how.progress = progress("layers looked at", Stopping::allowed);
    return std::make_unique<KeptShares>(network_, minibatches_of(data_, network_, fitted_samples),
                                        metrics, how);
  }

  FittedNetwork fitted(const NetworkRecipe& recipe, Stopping stopping) {
    std::string key = print(recipe);
    for (const auto& [known, network] : last_) {
      if (known == key) return network;
    }
    FitOptions how;
    how.threads = workers_of(arguments_);
    how.progress = progress("layers fitted", stopping);
    Fit fit = fit_recipe(network_, recipe, data_, fitted_samples, how);
    AnswerCounts counts = answers_of_network(fit.network);
    last_.push_back({key, {std::move(fit), std::move(counts)}});
    if (last_.size() > most_remembered) last_.pop_front();
    return last_.back().second;
  }

  /// Returns the answers of the original, which are counted when they are first needed.
  const AnswerCounts& answers() {
    if (!own_) own_ = answers_of_network(network_);
    return *own_;
  }

 private:
  ScoreArguments arguments_;
  JobListener listener_;
  Dataset data_;
  NetworkRecipe order_;
  Graph network_;
  std::optional<AnswerCounts> own_;
  std::deque<std::pair<std::string, FittedNetwork>> last_;  ///< by their recipes

  AnswerCounts answers_of_network(const Graph& network) const {
    Dataset data =
        load_dataset(arguments_.data, Split::validation, *normalize_named(arguments_.normalize));
    return validated(network, data, validating_samples, workers_of(arguments_), {listener_.tell});
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
    Scorer scorer = make_scorer(often, progress("minibatches for importance", Stopping::allowed));
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
  std::vector<Metric> metrics = result.rule.metrics();
  result.layers = trained->layers(metrics);
  result.fit = [=](const NetworkRecipe& recipe) {
    return trained->fitted(recipe, Stopping::refused);
  };
  result.answers = [=] { return trained->answers(); };
  result.compare = [=](const NetworkRecipe& recipe) {
    FittedNetwork fitted = trained->fitted(recipe, Stopping::allowed);
    double gained = fitted.answers.top1() - trained->answers().top1();
    return compared_trained(trained->network(), fitted.fit, metrics, gained);
  };
  return result;
}

}  // namespace

bool uses_weights(const Graph& network, const ScoreArguments& arguments) {
  return is_trained(network) && dataset_of(arguments) != "synthetic";
}

std::shared_ptr<SearchJudge> judge_for(const ScoreArguments& arguments, const GateRule& rule,
                                       const JobListener& listener) {
  Graph network = load_network(arguments.network);
  return std::make_shared<SearchJudge>(uses_weights(network, arguments)
                                           ? judge_trained(arguments, network, rule, listener)
                                           : judge_untrained(arguments, rule));
}

}  // namespace lathe
