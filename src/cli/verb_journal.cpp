// verb_journal.cpp: many networks scored. Interface: verb_journal.h.
#include "cli/verb_journal.h"

#include <unistd.h>

#include <fstream>
#include <mutex>

#include "base/error.h"
#include "base/parallel.h"

namespace lathe {
namespace {

/// Shows how far the work is: a bar on a terminal, a line for each tenth elsewhere.
class Progress {
 public:
  explicit Progress(size_t all) : bar_("scoring"), all_(all) { bar_.show(0, all); }

  void add(const std::string& what) {
    ++done_;
    bar_.show(done_, all_);
    bool is_tenth = done_ * 10 / all_ != (done_ - 1) * 10 / all_;
    if (isatty(STDERR_FILENO) == 0 && is_tenth) {
      fmt::print(stderr, "scored {} of {}: {}\n", done_, all_, what);
    }
  }

 private:
  ProgressBar bar_;
  size_t all_, done_ = 0;
};

nlohmann::json to_json(const Scores& scores) {
  nlohmann::json seeds = nlohmann::json::array();
  for (const Score& score : scores.of_seeds) {
    nlohmann::json layers = nlohmann::json::array();
    for (const LayerScore& layer : score.layers) layers.push_back({layer.layer, layer.score});
    seeds.push_back({{"total", score.total}, {"layers", layers}});
  }
  return {{"metric", scores.metric}, {"seeds", seeds}};
}

Scores scores_from_json(const nlohmann::json& json) {
  Scores result{json.at("metric"), {}};
  for (const auto& seed : json.at("seeds")) {
    Score score{seed.at("total"), {}};
    for (const auto& layer : seed.at("layers")) score.layers.push_back({layer[0], layer[1]});
    result.of_seeds.push_back(std::move(score));
  }
  return result;
}

/// Scores that were found, one line for each network and metric, in a file that later runs go on
/// with, whichever metrics they ask for.
class Journal {
 public:
  Journal(std::string path, std::string key) : path_(std::move(path)), key_(std::move(key)) {
    if (path_.empty()) return;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      // A line that was cut off when a run was killed is left out.
      nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
      if (json.is_discarded() || json.value("key", "") != key_) continue;
      Scores scores = scores_from_json(json.at("scores"));
      known_[{json.at("network"), scores.metric}] = scores;
    }
  }

  const Scores* find(const std::string& network, const std::string& metric) const {
    auto found = known_.find({network, metric});
    return found == known_.end() ? nullptr : &found->second;
  }

  void add(const std::string& network, const Scores& scores) {
    known_[{network, scores.metric}] = scores;
    if (path_.empty()) return;
    std::ofstream file(path_, std::ios::app);
    nlohmann::json line{{"key", key_}, {"network", network}, {"scores", to_json(scores)}};
    file << line.dump() << std::endl;
    if (!file) fail("cannot write to '{}'", path_);
  }

 private:
  std::string path_, key_;
  std::map<std::pair<std::string, std::string>, Scores> known_;
};

}  // namespace

std::map<std::string, std::vector<Scores>> score_all(const ScoreArguments& arguments,
                                                     const std::string& path,
                                                     const std::vector<ScoreJob>& jobs,
                                                     const std::vector<Metric>& metrics) {
  std::string key = fmt::format("{} {} {} {} {} {} {}", arguments.network.network, arguments.data,
                                arguments.normalize, arguments.samples, arguments.seeds,
                                arguments.network.seed, arguments.hook);
  Journal journal(path, key);
  ScoreArguments one = arguments;
  one.threads = 1;
  Scorer scorer = make_scorer(one);
  std::map<std::string, std::vector<Scores>> result;
  Progress progress(jobs.size());
  std::mutex mutex;
  for_each_index(jobs.size(), workers_of(arguments), [&](size_t i) {
    const ScoreJob& job = jobs[i];
    std::vector<Metric> missing;
    {
      std::lock_guard lock(mutex);
      for (const Metric& metric : metrics) {
        if (journal.find(job.name, metric.name) == nullptr) missing.push_back(metric);
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
    for (const Scores& each : scores) journal.add(job.name, each);
    if (!failure.empty()) {
      fmt::print(stderr, "{} is left out: {}\n", job.name, failure);
    } else {
      for (const Metric& metric : metrics) {
        result[job.name].push_back(*journal.find(job.name, metric.name));
      }
    }
    progress.add(job.name);
  });
  return result;
}

}  // namespace lathe
