// Rewrites nests that read padding, where the padding is not in memory.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Is some dimension padded?
bool is_padded(const std::vector<Pad>& pads);

/// Returns the nest in which "tensor" has no padding. If the padding changes no result, as the
/// lowest value in a maximum, the reads of it are left out. Otherwise the nest first copies the
/// tensor into the middle of a larger one.
Nest without_padding(const Nest& nest, size_t tensor);

/// Returns the nest in which the padding after the elements of "tensor" is as wide as the border.
Nest with_wider_padding(const Nest& nest, size_t tensor, const std::vector<Pad>& border);

}  // namespace lathe
