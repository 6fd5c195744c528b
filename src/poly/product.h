// Products: images whose coordinates have nothing to do with each other, as (i, 16*j + 3) on a box.
// Such an image has certain values in each coordinate, and all combinations of these. Images that
// differ in one coordinate only are then counted together at once, however their strides interlock;
// isl would cut them into disjoint pieces, of which there can be very many.
#pragma once

#include "poly/relation.h"

namespace lathe::poly {

/// Counts the distinct values of all images together; nothing if one of them is no product, or if
/// they differ in several coordinates.
std::optional<long> count_products(const std::vector<Image>& images);

}  // namespace lathe::poly
