// The canonical form of what a nest means, and names for it. Two recipes that make nests with the
// same canonical form are one candidate, whatever their steps and loops were.
//
// Each instance is described by two things: the instance of the original operator that it stands
// for, and the elements that it touches. A box of instances is then a corner and a set of
// directions, each with an extent. Loops that were split merge again (16*a + b is one direction),
// and so do neighbouring parts of a range. Copies that packing made are looked through. The order
// is left out.
#pragma once

#include <string>

#include "nest/nest.h"

namespace lathe {

/// Returns the canonical form: equal texts have equal meanings.
std::string canonical(const Nest& nest);

/// Names what "nest" means, relative to the "original" that steps made it from: "grouped x4",
/// "depthwise", "spatial bottleneck x2", "sequence 3 (2, 4)", ... "the same operator" if nothing
/// changed, "unnamed" if there is no name for it.
std::string meaning_name(const Nest& original, const Nest& nest);

}  // namespace lathe
