// Kernels that are wrong on purpose: tests break one, and see whether it is noticed.
#pragma once

#include "compile/units.h"

namespace lathe {

/// Turns an instruction of one of a unit's kernels into another one, compiles the unit anew and
/// replaces its object in a compiled network. Returns whether there was one: a kernel may only
/// copy.
bool break_kernel(Compiled& compiled, const Made& made, size_t kernel);

}  // namespace lathe
