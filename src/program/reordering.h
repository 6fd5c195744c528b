// Tensors whose elements change places, and what that means for a nest.
//
//   O[co] += W[co, ci] * I[ci]      the elements of I in another order: the columns of W likewise
//
// A nest computes the same in the new places if its instances can be exchanged so that each
// accesses the elements that came to where another one's were. Which instance goes where follows
// from the tensors whose order is given; where the elements of all others (weights) go follows from
// that. No operator is a special case.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/array.h"
#include "nest/nest.h"

namespace lathe {

/// Elements of some dimensions of a tensor, taken together, that change places: at place p (counted
/// row-major over these dimensions, without padding) is now what was at from[p].
struct Reordering {
  std::vector<size_t> dimensions;
  std::vector<long> from;
  friend bool operator==(const Reordering&, const Reordering&) = default;
};

/// How the elements of one tensor change places: in different dimensions independently. Dimensions
/// that none names stay as they are.
using Reorderings = std::vector<Reordering>;

/// Returns the reorderings of all tensors of a nest, from those that are given. Fails if the nest
/// would compute something else: the message says what it never brings together. "names" are what
/// it calls the tensors.
std::vector<Reorderings> completed(const Nest& nest,
                                   const std::vector<std::optional<Reorderings>>& given,
                                   const std::vector<std::string>& names);

/// Returns an array with its elements in the new places.
Array reordered(const Array& array, const Reorderings& how);

}  // namespace lathe
