// Long sums in two stages, which round less.
//
//   S[c] += X[n, c, h, w]      =>      P[n, c] += X[n, c, h, w];  S[c] += P[n, c]
//
// A sum of a hundred thousand numbers, one after the other, loses digits. A batch normalisation
// subtracts such a sum, and would be off by the same amount in a whole channel.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Returns the nest with long sums into few elements computed in two stages; the second stage runs
/// along the outermost loop of the sum. Every statement of the nest must have loops of its own.
/// Sums of products, as of matrices, stay as they are.
Nest with_partial_sums(const Nest& nest);

}  // namespace lathe
