// score.cpp: scores of a network as a job. Interface: score.h.
#include "jobs/score.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace lathe {
namespace {

nlohmann::json of_seeds(const Scores& scores) {
  nlohmann::json layers = nlohmann::json::array();
  for (size_t l = 0; l < scores.of_seeds.front().layers.size(); ++l) {
    nlohmann::json values = nlohmann::json::array();
    for (const Score& score : scores.of_seeds) values.push_back(score.layers[l].score);
    layers.push_back({{"layer", scores.of_seeds.front().layers[l].layer}, {"scores", values}});
  }
  return {{"metric", scores.metric}, {"totals", scores.totals()}, {"layers", layers}};
}

}  // namespace

ScoredPair score_network(const ScoreJobOptions& options, const JobListener& listener) {
  Graph network = load_untrained(options.score);
  check_recipe(options.recipe, options.score.network.network, network);
  std::vector<Metric> metrics = parse_metrics(options.metrics);
  size_t before = 0, all = options.recipe.empty() ? 1 : 2;
  Scorer scorer = make_scorer(options.score, [&](size_t done, size_t count) {
    if (listener.is_stopped()) fail("stopped before the network was scored");
    listener(WorkDone{"seeds scored", before + done, all * count});
  });
  ScoredPair result{scorer.run(network, metrics), {}};
  if (options.recipe.empty()) return result;
  before = static_cast<size_t>(options.score.seeds);
  Graph other = transformed(network, load_network_recipe("--recipe", options.recipe));
  result.changed = scorer.run(other, metrics);
  return result;
}

nlohmann::json to_json(const ScoreJobOptions& options, const ScoredPair& scored) {
  nlohmann::json report{{"network", options.score.network.network},
                        {"samples", options.score.samples},
                        {"data", options.score.data},
                        {"original", nlohmann::json::array()}};
  for (const Scores& scores : scored.original) report["original"].push_back(of_seeds(scores));
  for (const Scores& scores : scored.changed) report["changed"].push_back(of_seeds(scores));
  return report;
}

}  // namespace lathe
