// Sums of overlapping windows, turned around: from "where does this go" to "what comes here".
//
//   dI[oh + kh] += W[kh] * dO[oh]      =>      dI[i] += W[2 - k] * dO[i + k - 2]
//
// Then each element belongs to one position, and its sum stays in a register: the gradient of a
// convolution is a convolution. Indices of dO may lie outside of it; zeros are read there.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Turns a statement around. "s" adds to a tensor of "shape"; the statements that are returned do
/// the same inside that shape, and drop instances that write outside of it. "factor" is a read
/// whose value the statement's value is a multiple of; its tensor has "factor_shape". The new
/// statements may read it outside of its shape, with all that has the same index, and must find 0
/// there. A window with a stride becomes one statement for each remainder. A statement that has no
/// such form stays as it is, inside the shape.
std::vector<Statement> gathered(const Statement& s, const std::vector<long>& shape, size_t factor,
                                const std::vector<long>& factor_shape);

}  // namespace lathe
