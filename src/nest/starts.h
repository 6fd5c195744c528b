// Where sums and maxima start. In the text form of a nest they start at their neutral element; in
// memory a statement must set it.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Returns the nest with a statement that sets what others only add to, or take the maximum of, to
/// its neutral element, and one that sets the padding of a local tensor: nothing starts by itself
/// in memory.
Nest with_starts(const Nest& nest);

}  // namespace lathe
