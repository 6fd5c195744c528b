// Refinement: an assignment made better by what each single change would do to it.
//
// An integer program wants sums over places, and neither predictions nor bands are sums. Near an
// assignment they nearly are: each change alone is judged there, and what several changes do
// together is taken to be their sum. The best changes by that are kept, if they do what was
// promised; if not, limits are drawn tighter, and then fewer changes are chosen at a time.
#pragma once

#include <functional>

#include "strategies/strategy_standing.h"

namespace lathe {

/// Returns an assignment that is allowed and costs no more than "start". If "start" is not allowed,
/// limits are broken by no more than they were. What is infinite in "allowed" is never chosen.
Assignment refined(const StrategyInput& input, const ChoiceTable& allowed, const Assignment& start,
                   const std::function<Standing(const Assignment&)>& standing_of);

}  // namespace lathe
