// The conditions under which an instance runs.
#pragma once

#include "poly/linear.h"

namespace lathe {

/// Holds where all constraints of one of the lists hold. An empty guard always holds.
using Guard = std::vector<std::vector<poly::Constraint>>;

/// Returns whether the guard can hold where the loops have these ranges. "open" becomes what still
/// has to be asked there; it is empty if the guard always holds.
bool can_hold(const Guard& guard, const std::vector<poly::Interval>& ranges, Guard& open);

/// Returns whether the two guards are written the same way.
bool same(const Guard& a, const Guard& b);

}  // namespace lathe
