// Kernels that are wrong on purpose: tests break one, and see whether it is noticed.
#pragma once

#include "compile/units.h"

namespace lathe {

/// Turns an instruction of one of a unit's kernels into another one, compiles the unit anew and
/// replaces its object in a compiled network. Returns false if there is no such instruction: the
/// kernel only copies.
bool break_kernel(Compiled& compiled, const Made& made, size_t kernel);

}  // namespace lathe
