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

/// Returns layouts in which "block" channels of inputs and outputs lie together. Those of local
/// tensors are for lower_node() to choose, as they are in networks.
inline std::vector<Layout> blocked_layouts(const Nest& nest, long block) {
  std::vector<Layout> layouts;
  for (const Tensor& tensor : nest.tensors()) {
    if (tensor.role == Role::local) {
      layouts.emplace_back();
      continue;
    }
    bool data = tensor.role == Role::input || tensor.role == Role::output;
    bool has_channels = data && tensor.shape.size() == 4;
    layouts.push_back(blocked_layout(tensor.shape, has_channels ? block : 1));
  }
  return layouts;
}

}  // namespace lathe::test
