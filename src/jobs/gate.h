// The gate as a job: may a network be changed so? Or, how do many random networks stand?
//
//   GateJobOptions options{.score = {.network = {.network = "resnet20-cifar"}},
//                          .recipe = {{"layer2.*", parse_recipe("group(2)")}}};
//   GateVerdict verdict = judge_network(options);
//   RandomJudgement many = judge_random(options, {.networks = 1000, .exact = 10});
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "capacity/gate.h"
#include "jobs/event.h"
#include "jobs/scoring.h"

namespace lathe {

struct GateJobOptions {
  ScoreArguments score;
  NetworkRecipe recipe;  ///< how layers are changed
  GateRule rule = find_rule("two-sided");
};

/// Scores a network and what a recipe makes of it, and judges that. Fails if it was stopped.
GateVerdict judge_network(const GateJobOptions& options, const JobListener& listener = {});

/// Converts a verdict to JSON, with the rule that it is by.
nlohmann::json to_json(const GateRule& rule, const GateVerdict& verdict);

/// How many networks are drawn.
struct RandomNetworks {
  size_t networks = 1000;  ///< judged to first order
  size_t exact = 0;        ///< of these, evaluated exactly, too
};

/// What came of networks that were drawn at random.
struct RandomJudgement {
  size_t accepted = 0;                    ///< to first order
  std::vector<double> log_ratios;         ///< of scores, to first order
  std::vector<double> exact_ratios;       ///< the same of the first networks, exactly
  std::optional<double> agreement;        ///< of both, in rank; none of fewer than three
  double original_seconds = 0;            ///< of evaluating the original
  double seconds = 0, exact_seconds = 0;  ///< of judging all to first order, and some exactly
};

/// Draws networks, and judges them to first order by the bands of the rule alone. Every layer that
/// may change (program/layers.h) becomes one of the kinds that tables of trained networks have.
/// Fails if it was stopped.
RandomJudgement judge_random(const GateJobOptions& options, const RandomNetworks& how,
                             const JobListener& listener = {});

}  // namespace lathe
