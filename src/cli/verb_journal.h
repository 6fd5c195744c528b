// Many networks scored, several at a time, with a journal that a run which was stopped goes on
// with.
#pragma once

#include <functional>
#include <map>

#include "cli/verb_scores.h"

namespace lathe {

/// A network to score.
struct ScoreJob {
  std::string name;
  std::function<Graph()> load;
};

/// Returns what the metrics say of each network, by its name; each is scored by one worker. One
/// that fails is left out, and its reason printed. Scores are kept in the file "journal", unless
/// that is empty, and those that are there already are not computed again. Shows its progress: a
/// bar on a terminal, lines elsewhere.
std::map<std::string, std::vector<Scores>> score_all(const ScoreArguments& arguments,
                                                     const std::string& journal,
                                                     const std::vector<ScoreJob>& jobs,
                                                     const std::vector<Metric>& metrics);

}  // namespace lathe
