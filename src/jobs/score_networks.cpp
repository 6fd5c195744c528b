// score_networks.cpp: many networks scored. Interface: score_networks.h.
#include "jobs/score_networks.h"

#include <mutex>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/parallel.h"

namespace lathe {
namespace {

nlohmann::json to_json(const Scores& scores) {
  nlohmann::json seeds = nlohmann::json::array();
  for (const Score& score : scores.of_seeds) {
    nlohmann::json layers = nlohmann::json::array();
    for (const LayerScore& layer : score.layers) layers.push_back({layer.layer, layer.score});
    seeds.push_back({{"total", score.total}, {"layers", layers}});
  }
  return seeds;
}

Scores scores_from_json(const std::string& metric, const nlohmann::json& seeds) {
  Scores result{metric, {}};
  for (const auto& seed : seeds) {
    Score score{seed.at("total"), {}};
    for (const auto& layer : seed.at("layers")) score.layers.push_back({layer[0], layer[1]});
    result.of_seeds.push_back(std::move(score));
  }
  return result;
}

/// Scores that are known: those of the journal, and new ones, which it gets.
class KnownScores {
 public:
  KnownScores(const ScoreArguments& arguments, const std::string& folder) {
    if (folder.empty()) return;
    journal_.emplace(folder, Journal::Identity{
                                 {"network", arguments.network.network},
                                 {"data", arguments.data + " " + arguments.normalize},
                                 {"scoring", fmt::format("{} samples, {} seeds from {}, at each {}",
                                                         arguments.samples, arguments.seeds,
                                                         arguments.network.seed, arguments.hook)}});
  }

  const Scores* find(const std::string& network, const std::string& metric) {
    auto known = known_.find({network, metric});
    if (known != known_.end()) return &known->second;
    auto trial = journal_ ? journal_->find(subject_of(metric), network) : std::nullopt;
    if (!trial) return nullptr;
    return &(known_[{network, metric}] = scores_from_json(metric, trial->details));
  }

  void add(const std::string& network, const Scores& scores) {
    known_[{network, scores.metric}] = scores;
    if (!journal_) return;
    Trial trial{
        .subject = subject_of(scores.metric), .recipe = network, .outcome = Trial::Outcome::judged};
    trial.details = to_json(scores);
    journal_->add(trial);
  }

 private:
  std::optional<Journal> journal_;
  std::map<std::pair<std::string, std::string>, Scores> known_;  // by network and metric

  static std::string subject_of(const std::string& metric) { return "scores: " + metric; }
};

}  // namespace

std::map<std::string, std::vector<Scores>> score_all(const ScoreArguments& arguments,
                                                     const std::string& folder,
                                                     const std::vector<ScoreJob>& jobs,
                                                     const std::vector<Metric>& metrics,
                                                     const JobListener& listener) {
  ScoreArguments one = arguments;
  one.threads = 1;
  Scorer scorer = make_scorer(one);
  KnownScores known(arguments, folder);
  std::map<std::string, std::vector<Scores>> result;
  std::mutex mutex;
  size_t done = 0;
  for_each_index(jobs.size(), workers_of(arguments), [&](size_t i) {
    const ScoreJob& job = jobs[i];
    std::vector<Metric> missing;
    {
      std::lock_guard lock(mutex);
      if (listener.is_stopped()) return;
      for (const Metric& metric : metrics) {
        if (known.find(job.name, metric.name) == nullptr) missing.push_back(metric);
      }
    }
    std::vector<Scores> scores;
    std::string failure;
    try {
      if (!missing.empty()) scores = scorer.run(job.load(), missing);
    } catch (const UserError& error) {
      failure = error.what();
    }
    std::lock_guard lock(mutex);
    for (const Scores& each : scores) known.add(job.name, each);
    if (!failure.empty()) {
      listener(JobWarning{fmt::format("{} is left out: {}", job.name, failure)});
    } else {
      for (const Metric& metric : metrics) {
        result[job.name].push_back(*known.find(job.name, metric.name));
      }
    }
    listener(WorkDone{"networks scored", ++done, jobs.size()});
  });
  if (listener.is_stopped()) fail("stopped; the same command with a journal goes on with it");
  return result;
}

}  // namespace lathe
