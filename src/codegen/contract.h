// Storage of local tensors: only as much as is needed at one time.
#pragma once

#include <vector>

#include "codegen/layout.h"

namespace lathe {

/// A nest and the layouts of its tensors.
struct Stored {
  Nest nest;
  std::vector<Layout> layouts;
};

/// Returns the nest with local tensors that hold what one iteration of the loops around all their
/// uses touches, where no other iteration touches the same elements:
///
///   for a: { for b: T[a, b] = ...;  for b: ... T[a, b] }     T has one row
///
/// Iterations now share storage: workers need a T each, and dependences are those of the nest
/// before.
Stored contracted(const Nest& nest, const std::vector<Layout>& layouts);

}  // namespace lathe
