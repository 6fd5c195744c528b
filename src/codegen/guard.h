// The conditions under which an instance runs.
#pragma once

#include "poly/linear.h"

namespace lathe {

/// All constraints of one of these lists hold. Empty: always.
using Guard = std::vector<std::vector<poly::Constraint>>;

/// Can the guard hold where the loops have these ranges? Returns in "open" what is left of it
/// there; nothing if it always holds.
bool can_hold(const Guard& guard, const std::vector<poly::Interval>& ranges, Guard& open);

/// Are the two guards written the same way?
bool same(const Guard& a, const Guard& b);

}  // namespace lathe
