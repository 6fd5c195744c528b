// Many networks scored, several at a time, with a journal that a run which was stopped goes on
// with.
//
//   auto scores = score_all(how, "scores", {{"g2", [&] { return transformed(...); }}}, metrics);
//   scores.at("g2")[0]                                   what the first metric says of it
#pragma once

#include <functional>
#include <map>

#include "jobs/event.h"
#include "jobs/scoring.h"

namespace lathe {

/// A network to score.
struct ScoreJob {
  std::string name;
  std::function<Graph()> load;
};

/// Returns what the metrics say of each network, by its name; each is scored by one worker. One
/// that fails is left out, and the listener is warned. Scores are kept in the journal of a folder
/// (search/journal.h), unless that is "", and those that are there already are not computed again.
/// Fails if it was stopped.
std::map<std::string, std::vector<Scores>> score_all(const ScoreArguments& arguments,
                                                     const std::string& folder,
                                                     const std::vector<ScoreJob>& jobs,
                                                     const std::vector<Metric>& metrics,
                                                     const JobListener& listener = {});

}  // namespace lathe
