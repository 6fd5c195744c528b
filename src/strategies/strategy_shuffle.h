// Shuffles: groups that read every n-th channel, chosen together with their neighbours.
//
// Layers in contiguous groups that follow each other never mix what the groups hold. If one of them
// is shuffled, they do, for the same work. No layer alone tells that, so the tables do not either:
// shuffles are chosen after the groups.
#pragma once

#include "strategies/strategy.h"

namespace lathe {

/// Returns the assignment with shuffled groups in those layers in groups, one after the other,
/// where neighbours connect more channels then and the layer does not become much slower.
Assignment with_shuffles(const StrategyInput& input, const Assignment& assignment);

}  // namespace lathe
