// How important the channels of a trained network are, as a job.
//
//   ImportanceOptions options{.score = {.network = {.network = "model.onnx"},
//                                       .data = "cifar10:/data/cifar10", .samples = 128}};
//   ImportanceResult found = find_importance(options);
//   write_network_recipe(found.order, "order.recipe");    puts the most important channels first
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "capacity/importance.h"
#include "jobs/event.h"
#include "jobs/scoring.h"

namespace lathe {

struct ImportanceOptions {
  ScoreArguments score;  ///< its seeds are minibatches
  Importance by = Importance::fisher;
};

struct ImportanceResult {
  std::vector<ChannelImportance> sets;
  NetworkRecipe order;  ///< steps that put the most important channels of each set first
};

/// Finds the importance of all channels. Fails if the network has weights without data: nobody has
/// trained it.
ImportanceResult find_importance(const ImportanceOptions& options,
                                 const JobListener& listener = {});

/// Converts what was found to JSON.
nlohmann::json to_json(const ImportanceResult& found);

}  // namespace lathe
