// Where the local tensors of a kernel lie.
#pragma once

#include "codegen/code.h"

namespace lathe {

/// Drops what is stored to local tensors that nothing is loaded from: all who read them found their
/// elements in variables. "outside" is the same as below.
void drop_unread(Code& code, const std::vector<bool>& outside);

/// Puts the local tensors of a kernel into the scratch memory of its worker. Each gets as much room
/// as one iteration of the parallel loops touches. Tensors that other kernels touch as well stay
/// outside: "outside" says which.
void place_locals(Code& code, const std::vector<bool>& outside);

/// Does the same for a GPU: a tensor in private memory gets as much room as one thread touches, one
/// in shared memory as much as one block does. Layouts tell how many elements are left.
void place_in_spaces(Code& code);

}  // namespace lathe
