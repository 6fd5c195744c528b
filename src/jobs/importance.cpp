// importance.cpp: the importance of channels as a job. Interface: importance.h.
#include "jobs/importance.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "program/rebatch.h"

namespace lathe {

ImportanceResult find_importance(const ImportanceOptions& options, const JobListener& listener) {
  Graph network = load_network(options.score.network);
  if (!is_trained(network)) {
    fail("'{}' has weights without data: only channels of a trained network differ in importance",
         options.score.network.network);
  }
  Scorer scorer = make_scorer(options.score, [&](size_t done, size_t all) {
    if (listener.is_stopped()) fail("stopped after {} of {} minibatches", done, all);
    listener(WorkDone{"minibatches", done, all});
  });
  ImportanceResult result;
  result.sets = importance_of(rebatched(network, options.score.samples), scorer, options.by);
  result.order = most_important_first(network, result.sets);
  return result;
}

nlohmann::json to_json(const ImportanceResult& found) {
  nlohmann::json sets = nlohmann::json::array();
  for (const ChannelImportance& each : found.sets) {
    sets.push_back({{"layer", each.layer}, {"importance", each.channels}});
  }
  return {{"sets", sets}, {"order", to_json(found.order)}};
}

}  // namespace lathe
