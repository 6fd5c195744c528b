// Private tensors whose elements are counted by the loops around them.
//
//   for block.x b < 49: for thread.x y < 8: for r < 2:   T[p / 56, p mod 56] = ...   p = 16*b+8*r+y
//                                                   ->   T[r] = ...
//
// What a thread keeps for itself needs no place among the elements of others. Where no other
// thread touches it, and all statements reach it by the same loops, these loops are its indices.
#pragma once

#include "codegen/contract.h"

namespace lathe {

/// Indexes private tensors by loops where their own indices are not linear: those would be in
/// memory, since registers have no indices. It is also done where loops leave out iterations
/// (phantoms.h). Spaces are settled.
Stored indexed_by_loops(const Nest& nest, const std::vector<Layout>& layouts);

}  // namespace lathe
