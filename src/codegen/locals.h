// Where the local tensors of a kernel lie.
#pragma once

#include "codegen/code.h"

namespace lathe {

/// Puts local tensors into the worker's scratch memory, if only this kernel touches them. Each gets
/// as much room as one iteration of the parallel loops touches. "outside" says which tensors other
/// kernels touch, too.
void place_locals(Code& code, const std::vector<bool>& outside);

}  // namespace lathe
