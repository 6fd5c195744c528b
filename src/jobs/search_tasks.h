// The tasks of a search that is made elsewhere: what a worker does.
//
//   SearchTasks tasks(threads);
//   tasks.about()                                    what this machine is
//   tasks.run({{"do", "layers"}, {"search", ...}, {"layers", ...}})
//
// | task | answer |
// |---|---|
// | ready | {}: what every score needs is loaded |
// | layers: [{layer, recipe, width}] | {"changes": [{scores, gain}, null if it cannot be scored]} |
// | network: recipe | {"comparisons": [...]}: with the original, by all metrics of the rule |
// | measure: recipe | {"own": seconds, "time": seconds, ...}: beside the original |
//
// An answer depends on nothing but its task. What was loaded for a search is kept for the next
// task of it; a worker may end at any time, and another one does the task again.
#pragma once

#include <list>
#include <nlohmann/json.hpp>

#include "jobs/judging.h"
#include "search/network_bench.h"

namespace lathe {

/// What tasks are about: all that scores and times depend on.
struct TaskSearch {
  ScoreArguments score;
  GateRule rule;
  int threads = 1;  ///< that networks run with
};

/// Converts to and from JSON.
nlohmann::json to_json(const TaskSearch& search);
TaskSearch task_search_from_json(const nlohmann::json& json);

/// Says what this machine is: {"version", "architecture", "machine", "target", "caches"}. Scores
/// have the same bits where version and architecture are the same; times can be compared where the
/// machine is, too.
nlohmann::json about_this_machine();

/// Returns the target of a machine that said so of itself.
Target target_of_machine(const nlohmann::json& about);

class SearchTasks {
 public:
  /// So many threads score.
  explicit SearchTasks(int threads) : threads_(threads) {}

  /// Does a task. The answer to one that cannot be done is {"failed": reason}.
  nlohmann::json run(const nlohmann::json& task);

 private:
  /// What was loaded for a search.
  struct Loaded {
    std::string about;  ///< the search, in text
    TaskSearch search;
    std::shared_ptr<SearchJudge> judge = nullptr;
    Graph network = {};
    std::unique_ptr<NetworkBench> bench = nullptr;
  };

  int threads_;
  std::list<Loaded> loaded_;  // the last one first

  Loaded& load(const nlohmann::json& search);
  SearchJudge& judge_of(Loaded& loaded) const;
  nlohmann::json scored_layers(Loaded& loaded, const nlohmann::json& task) const;
  static nlohmann::json measured(Loaded& loaded, const std::string& recipe);
  nlohmann::json done(const nlohmann::json& task);
};

}  // namespace lathe
