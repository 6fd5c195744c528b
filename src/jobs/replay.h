// The bundle of a search made again from its recipe, as a job.
//
//   ReplayResult made = replay_bundle({.recipe = "runs/r18/bundle", .folder = "again"});
//   made.comparison->others.empty()            it is the same, byte for byte
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "jobs/event.h"

namespace lathe {

struct ReplayOptions {
  std::string recipe;   ///< the winner.recipe of a bundle, or the bundle's folder
  std::string folder;   ///< to write: a new one, or a bundle
  std::string network;  ///< where the network's file is now; "": where it was
};

/// How a bundle stands beside the one that the recipe is of.
struct ReplayComparison {
  std::string folder;               ///< of that one
  std::string unreadable;           ///< why it cannot be compared; "": it can
  size_t same = 0, all = 0;         ///< files
  std::vector<std::string> others;  ///< files that are not the same
};

struct ReplayResult {
  std::string network, target;
  size_t layers = 0;                           ///< that changed
  std::optional<ReplayComparison> comparison;  ///< nothing: the recipe is in no bundle
};

/// Makes the bundle. Warns if it was made on another machine. Fails if it was stopped.
ReplayResult replay_bundle(const ReplayOptions& options, const JobListener& listener = {});

/// Converts what was made to JSON.
nlohmann::json to_json(const ReplayResult& made);

}  // namespace lathe
