// Boxes of instances in canonical form: a corner and directions. Used by canonical.cpp and
// name.cpp.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "nest/nest.h"

namespace lathe {

/// extent steps along "vector".
struct BoxDirection {
  std::vector<long> vector;
  long extent;
  friend bool operator==(const BoxDirection&, const BoxDirection&) = default;
  bool operator<(const BoxDirection& b) const {
    return std::tie(vector, extent) < std::tie(b.vector, b.extent);
  }
};

/// The points  corner + sum k[d] * directions[d].vector,  0 <= k[d] < directions[d].extent.
struct Parallelepiped {
  std::vector<long> corner;
  std::vector<BoxDirection> directions;
  friend bool operator==(const Parallelepiped&, const Parallelepiped&) = default;
  bool operator<(const Parallelepiped& b) const {
    return std::tie(corner, directions) < std::tie(b.corner, b.directions);
  }
};

/// Returns the image of a box under a linear function, in canonical form; nothing if the set is no
/// box or the function not linear.
std::optional<Parallelepiped> image_of_box(const isl::set& set, const isl::multi_aff& function);

/// Joins boxes that differ by a shift along one direction, until none do, and sorts the rest.
void join_neighbours(std::vector<Parallelepiped>& boxes);

}  // namespace lathe
