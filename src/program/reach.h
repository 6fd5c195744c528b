// Relations of channels: which channels of what an operator reads reach which channels of what it
// writes. Its accesses say that, so that any nest has one.
//
//   group(2), 4 channels       1 1 . .        a row for each channel that is written,
//                              1 1 . .        a column for each channel that is read
//                              . . 1 1
//                              . . 1 1
#pragma once

#include "base/bits.h"
#include "nest/nest.h"

namespace lathe {

/// Counts channels, by dimension 1; a tensor of fewer dimensions is a single channel.
size_t channels_of(const Shape& shape);

/// Returns which channels (rows) of an output of a nest are reached by which channels (columns) of
/// an input. Both are given by their places: among the outputs, and among the inputs and weights.
BitMatrix reached(const Nest& nest, size_t input, size_t output = 0);

/// Each channel reaches itself.
BitMatrix diagonal(size_t size);

/// Each channel reaches all.
BitMatrix everything(size_t rows, size_t columns);

/// Adds to each row of "to" the rows of "from" that "relation" names.
void add_related(BitMatrix& to, const BitMatrix& relation, const BitMatrix& from);

}  // namespace lathe
