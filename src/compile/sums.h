// Where sums of products over channels are made, if the result does not lie in blocks of channels.
#pragma once

#include "codegen/layout.h"
#include "nest/nest.h"

namespace lathe {

/// Returns the nest in which the sums of a convolution whose result is row-major are made in a
/// tensor of their own, with channels side by side, and taken over when they are complete;
/// "layouts" gets that tensor's layout. Other nests stay as they are.
Nest with_blocked_sums(const Nest& nest, std::vector<Layout>& layouts);

}  // namespace lathe
