// Sums of overlapping windows, turned around: from "where does this go" to "what comes here".
//
//   dI[oh + kh] += W[kh] * dO[oh]      =>      dI[i] += W[2 - k] * dO[i + k - 2]
//
// Written so, each element belongs to one position and its sum stays in a register: the gradient of
// a convolution is one. Indices of dO may then lie outside of it, where zeros are to be read.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Returns statements that do what "s", which adds to a tensor of "shape", does inside that shape:
/// instances that write outside of it are dropped. "factor" is a read of a tensor "factor_shape"
/// that the value is a multiple of; the statements that are returned may read it (and what else
/// has the same index) outside of its shape, and must find 0 there. A window with a stride becomes
/// a statement for each remainder. What has no such form stays as it is, inside the shape.
std::vector<Statement> gathered(const Statement& s, const std::vector<long>& shape, size_t factor,
                                const std::vector<long>& factor_shape);

}  // namespace lathe
