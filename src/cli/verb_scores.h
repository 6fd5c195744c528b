// What the verbs that score networks share: the options of data, samples, seeds.
#pragma once

#include "cli/verb_network.h"
#include "jobs/scoring.h"

namespace lathe {

/// Declares NETWORK and the options of scoring on "app".
void add_score_arguments(Command& app, ScoreArguments& arguments);

/// Declares what networks are scored on: data, samples, seeds.
void add_data_arguments(Command& app, ScoreArguments& arguments);

/// Declares what trained networks are judged by: labels, or their outputs.
void add_loss_argument(Command& app, ScoreArguments& arguments);

/// All but NETWORK.
void add_scorer_arguments(Command& app, ScoreArguments& arguments);

}  // namespace lathe
