// Long sums in two stages, which round less.
//
//   S[c] += X[n, c, h, w]      =>      P[n, c] += X[n, c, h, w];  S[c] += P[n, c]
//
// A sum of a hundred thousand numbers one after the other loses digits, and what a batch
// normalisation subtracts is such a sum: it is wrong by the same amount for a whole channel.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Returns the nest, of which every statement has loops of its own, with long sums into few
/// elements computed in two stages: along the outermost loop of the sum at last. Products as of
/// matrices stay as they are.
Nest with_partial_sums(const Nest& nest);

}  // namespace lathe
