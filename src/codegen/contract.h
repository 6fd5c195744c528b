// Storage of local tensors: as much as is needed at a time, and no more.
#pragma once

#include <vector>

#include "codegen/layout.h"

namespace lathe {

/// A nest and the layouts of its tensors.
struct Stored {
  Nest nest;
  std::vector<Layout> layouts;
};

/// Makes local tensors smaller. All uses of a local tensor share some outer loops. If no two
/// iterations of these touch the same element, the tensor holds what one iteration touches:
///
///   for a: { for b: T[a, b] = ...;  for b: ... T[a, b] }     T has one row
///
/// Iterations then share storage. So each worker needs a T of its own, and dependences must be
/// taken from the nest as it was before. A tensor in shared memory is that of a block: iterations
/// of threads do not share its storage. One in global memory of a GPU is all there at a time.
Stored contracted(const Nest& nest, const std::vector<Layout>& layouts);

}  // namespace lathe
