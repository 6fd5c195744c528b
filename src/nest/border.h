// The elements around others: what padding is where it is stored.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Returns the nest that sets the border of a tensor: so many elements around "shape".
Nest border_of(isl::ctx ctx, const std::vector<long>& shape, const std::vector<Pad>& border,
               double padding, Element element);

}  // namespace lathe
