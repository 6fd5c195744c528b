// Phantom instances: what threads may compute although nobody needs it.
//
//   for block.x b < 25: thread.x x < 4: for c < 2:   if 8*b + 2*x + c < 196:  S[c] = 0
//                                              ->                             S[c] = 0
//
// 25 blocks of 8 positions cover 196 positions and 4 more. What the last block adds up for those is
// never written to memory that others see. So the condition can go, and S can stay in registers.
#pragma once

#include "codegen/loops.h"
#include "codegen/target.h"

namespace lathe {

/// Lets statements run where a condition keeps them from it: if what they write then is in private
/// or shared memory, indexed by loops that end where the tensor does, so that no other instance has
/// the same element; and if what they read is there. Products of matrices keep their conditions:
/// they know what to do with them (matrices.h).
void allow_phantoms(LoopTree& tree, const Target& target);

}  // namespace lathe
