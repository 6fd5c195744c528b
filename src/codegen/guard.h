// The conditions under which an instance runs.
#pragma once

#include "poly/linear.h"

namespace lathe {

/// A condition. It holds where all constraints of one list hold. An empty guard always holds.
using Guard = std::vector<std::vector<poly::Constraint>>;

/// Can the guard hold where the loops have these ranges? "open" becomes the part of the guard that
/// the ranges do not decide. It is empty if the guard always holds there.
bool can_hold(const Guard& guard, const std::vector<poly::Interval>& ranges, Guard& open);

/// Are the two guards written the same way, whatever the number of loops around them?
bool same(const Guard& a, const Guard& b);

}  // namespace lathe
