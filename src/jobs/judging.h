// How a search judges networks: by scores before training, or, if the network is trained, by what
// its layers can still compute.
//
//   std::shared_ptr<SearchJudge> judge = judge_for(options.score, rule, listener);
//   judge->layers->change("layer3.0.conv1", recipe)      what a layer scores alone
//   judge->compare(recipe)                               what a network scores
#pragma once

#include <memory>

#include "capacity/fit.h"
#include "capacity/gate.h"
#include "capacity/layer_scores.h"
#include "jobs/event.h"
#include "jobs/scoring.h"

namespace lathe {

/// How good a trained network is, in percent: of samples, whose labels it finds, or, where there
/// are none, of what the original's outputs vary (jobs/outputs.h).
struct Agreement {
  double percent = 0;
  long samples = 0;
};

/// A changed network with weights from the trained original, and how good it is with them.
struct FittedNetwork {
  Fit fit;
  Agreement agreement;
};

struct SearchJudge {
  bool is_trained = false;
  /// What steps change: the network that was loaded. If it is trained, the most important of its
  /// channels are put first, by "order".
  Graph network;
  NetworkRecipe order;
  GateRule rule;
  std::unique_ptr<LayerScores> layers;
  /// Compares a network with the original by all metrics of the rule.
  std::function<std::vector<Comparison>(const NetworkRecipe&)> compare;
  // Of a trained network; else null:
  /// Gives a changed network its weights, and looks how good it is on samples that validate
  /// (Split::validation). What was compared last is remembered.
  std::function<FittedNetwork(const NetworkRecipe&)> fit;
  /// Returns how good the network itself is, and how good another one is that computes the same.
  std::function<Agreement()> agreement;
  std::function<Agreement(const Graph&)> agreement_of;
};

/// Loads the network and looks at it once. Fails, and says why, if it cannot be judged. If the rule
/// is for untrained networks, trained ones are judged by the rule "trained" instead. This, and
/// compare() of a trained network, throw JobStopped if the listener asks for it; what a result is
/// made with, fit() and answers(), goes on.
std::shared_ptr<SearchJudge> judge_for(const ScoreArguments& arguments, const GateRule& rule,
                                       const JobListener& listener = {});

}  // namespace lathe
