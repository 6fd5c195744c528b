// Reads statements that copy elements of one tensor to another, or to others of the same.
//
//   O[0, 4*r + c + 4, oh, ow] = O[0, c, oh, ow]
//
// copies channel 0 to the channels 4, 8, ... The accesses tell all of it.
#pragma once

#include "base/array.h"
#include "nest/nest.h"

namespace lathe {

/// Element (from[0][i], from[1][j], ...) of a tensor becomes element (to[0][i], to[1][j], ...) of
/// the one that is written.
struct Copy {
  size_t tensor;  ///< the one that is read
  std::vector<Shape> from, to;
};

/// Takes apart a statement  T[f] = X[g]. Throws NoForm if that is no such copy: where an index is
/// not linear, a loop moves along two dimensions, an element is written twice, or elements are read
/// that the statement itself has changed.
Copy copy_of(const Nest& nest, const Statement& statement);

}  // namespace lathe
