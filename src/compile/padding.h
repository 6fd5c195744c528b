// Padding that is not in memory: nests that read it, rewritten.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Is some dimension padded?
bool is_padded(const std::vector<Pad>& pads);

/// Returns the nest in which "tensor" has no padding. Where the padding is neutral for all that
/// reads it (the lowest value for a maximum), those reads are left out; otherwise the tensor is
/// first copied into the middle of a larger one.
Nest without_padding(const Nest& nest, size_t tensor);

/// Returns the nest in which "tensor" has as much padding behind its elements as its border has.
Nest with_wider_padding(const Nest& nest, size_t tensor, const std::vector<Pad>& border);

}  // namespace lathe
