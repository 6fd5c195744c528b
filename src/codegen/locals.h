// Where the local tensors of a kernel lie.
#pragma once

#include "codegen/code.h"

namespace lathe {

/// Gives every local tensor that only this kernel touches a place in the worker's scratch memory:
/// as much of it as one iteration of the parallel loops touches. "outside" says which tensors other
/// kernels touch, too.
void place_locals(Code& code, const std::vector<bool>& outside);

}  // namespace lathe
