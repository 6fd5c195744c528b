// Barriers: where the threads of a block wait for each other. They follow from the dependences.
//
//   for block.x, thread.x:
//     for k:
//       P[thread.x] = I[k, thread.x]
//       barrier                            flow: other threads read P[thread.x]
//       S(P[0], ..., P[31])
//       barrier                            anti: the next iteration of k writes P again
//
// A barrier orders the threads of one block. Nothing orders different blocks of one kernel, or what
// happens at the same time in different threads: such a pair is a violation.
#pragma once

#include "nest/dependence.h"

namespace lathe {

/// A barrier in the body of a loop, or of a kernel, of a nest that in_threads() made.
struct Barrier {
  std::vector<long>
      body;     ///< the places of the loops around it: at[0], at[1], ... of what is there
  long before;  ///< the place that it stands before; one after the last: at the end
  friend auto operator<=>(const Barrier&, const Barrier&) = default;
};

/// Does a tensor hold what all iterations write, or has each block (each thread) a part of its own,
/// if its space is shared (private)?
enum class Copies { one, own };

/// What the dependences between threads ask for.
struct Synchronised {
  std::optional<Violation> violation;
  std::vector<Barrier> barriers;  ///< sorted
  std::vector<bool> handed;       ///< tensors that threads hand on to others
};

/// Finds the barriers of a nest that in_threads() made.
Synchronised synchronised(const Nest& threads, Copies copies);

/// Returns where the tensors of a nest lie: Space::nearest is settled by their dependences. Of
/// tensors that are not local it is global.
std::vector<Space> settled_spaces(const Nest& threads);

}  // namespace lathe
