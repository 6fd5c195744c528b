// A nest as the threads of a GPU run it. Every thread runs the same code: the loops of blocks and
// threads are outermost, and all statements of a kernel (an outermost place) are inside them.
//
//   for b block.x:                              for block.x, thread.x:
//     for k:                                      for k:
//       for i thread.x: P[i] = I[k, b, i]   ->      P[thread.x] = I[k, block.x, thread.x]
//       for j thread.x: S(P)                        S(P)
//
// A statement that no loop binds to an axis runs where that axis is 0. Threads pass each other
// between barriers: barriers.h says where these stand.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Returns the nest with the loops of blocks and threads outermost. They are named by their axes;
/// each counts as far as the longest loop that is bound to it. All other loops keep their sequence.
/// Throws a UserError if two loops around a statement are bound to one axis.
Nest in_threads(const Nest& nest);

/// Returns the nest with the parallel loops of each outermost place as blocks, which share their
/// iterations: three at most, as there are axes, and none beside loops that are bound. Parallel
/// loops further inside run in order, as they do on a CPU.
Nest in_blocks(const Nest& nest);

/// Returns how many of the outermost loops of a statement are blocks or threads, in a nest that
/// in_threads() made.
size_t count_axes(const Order& order);

}  // namespace lathe
