// Orders of channels as steps.
//
//   permute(5, 0..3)      channel 5 becomes the first one, then come 0, 1, 2, 3; then all others
#pragma once

#include "nest/step.h"

namespace lathe {

/// Writes an order of channels as a step: what was channel order[p] becomes channel p. Channels
/// that follow each other become a range; those at the end that are in order are left out.
Step permute_step(const std::vector<long>& order);

/// Returns the order that a step stands for, if there are so many channels. Fails if it names a
/// channel twice, or one that is not there.
std::vector<long> order_of(const Step& step, long channels);

}  // namespace lathe
