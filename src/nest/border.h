// The border of a tensor: padding that is stored around its elements.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Returns the nest that sets the border of a tensor: so many elements around "shape".
Nest border_of(isl::ctx ctx, const std::vector<long>& shape, const std::vector<Pad>& border,
               double padding, Element element);

}  // namespace lathe
