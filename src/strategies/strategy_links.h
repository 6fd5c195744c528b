// Links of channels in the integer program of a choice (search/choice_problem.h): each is a place,
// whose choices are its levels.
#pragma once

#include "strategies/strategy.h"

namespace lathe {

/// Adds a place for each link. The sites of the link agree with it: they have as many channels as
/// the level leaves.
void keep_links_together(const StrategyInput& input, ChoiceProblem& problem);

/// Adds the weights of normalisations to a limit of weights: they are fewer where channels are.
void add_link_weights(const NetworkSpace& space, ChoiceLimit& limit);

}  // namespace lathe
