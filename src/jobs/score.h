// What a network promises before it is trained, as a job; beside another one, if a recipe is given.
//
//   ScoreJobOptions options{.score = {.network = {.network = "resnet20-cifar"}},
//                           .recipe = "layer1.*: group(2)"};
//   ScoredPair scored = score_network(options);
//   scored.changed[0].totals()                    of the first metric, for each seed
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "capacity/rule.h"
#include "jobs/event.h"
#include "jobs/scoring.h"

namespace lathe {

struct ScoreJobOptions {
  ScoreArguments score;
  /// One, several with commas, or all; that of the usual rule's bands unless told.
  std::string metrics = metrics_used(Contribution::Use::bands).front().name;
  std::string recipe = "";  ///< as load_network_recipe() reads it; "": there is no other network
};

/// What metrics say of a network, and of what a recipe makes of it if there is one.
struct ScoredPair {
  std::vector<Scores> original, changed;
};

/// Scores. Fails if it was stopped.
ScoredPair score_network(const ScoreJobOptions& options, const JobListener& listener = {});

/// Converts what was found to JSON.
nlohmann::json to_json(const ScoreJobOptions& options, const ScoredPair& scored);

}  // namespace lathe
