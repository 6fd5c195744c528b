// Layouts for nests in tests.
#pragma once

#include <vector>

#include "codegen/layout.h"
#include "nest/nest.h"

namespace lathe::test {

/// Returns the layouts in which all tensors of a nest are row-major.
inline std::vector<Layout> row_major_layouts(const Nest& nest) {
  std::vector<Layout> layouts;
  for (const Tensor& tensor : nest.tensors()) layouts.push_back(row_major_layout(tensor.shape));
  return layouts;
}

}  // namespace lathe::test
