// Gives sums of products a tensor in blocks of channels, if their result does not lie in blocks.
#pragma once

#include "codegen/layout.h"
#include "nest/nest.h"

namespace lathe {

/// Rewrites a convolution whose result is row-major. It sums up in a new tensor, in which channels
/// lie side by side, and then copies that to the result. "layouts" gets the layout of the new
/// tensor. Other nests stay as they are.
Nest with_blocked_sums(const Nest& nest, std::vector<Layout>& layouts);

}  // namespace lathe
