// layout.cpp: offsets of elements. Interface: layout.h.
#include "codegen/layout.h"

#include "codegen/target.h"

namespace lathe {

Layout row_major_layout(const std::vector<long>& shape) {
  Layout layout;
  layout.axes.resize(shape.size());
  layout.size = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    layout.axes[i] = {1, layout.size, 0};
    layout.size *= shape[i];
  }
  return layout;
}

long spread(long stride, long bytes) {
  // Addresses that are this far apart fall into few sets of a first cache of 32 or 64 KiB.
  constexpr long contended = 2048;
  return stride * bytes % contended == 0 ? stride + cache_line / bytes : stride;
}

Layout spread_layout(const std::vector<long>& shape, long bytes) {
  Layout layout;
  layout.axes.resize(shape.size());
  layout.size = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    long stride = shape[i] > 1 ? spread(layout.size, bytes) : layout.size;
    layout.axes[i] = {1, stride, 0};
    layout.size = stride * shape[i];
  }
  return layout;
}

Layout blocked_layout(const std::vector<long>& shape, long block) {
  if (block == 1 || shape.size() < 2) return row_major_layout(shape);
  Layout layout;
  layout.axes.resize(shape.size());
  layout.size = block;
  for (size_t i = shape.size(); i-- > 2;) {
    layout.axes[i] = {1, layout.size, 0};
    layout.size *= shape[i];
  }
  layout.axes[1] = {block, layout.size, 1};
  layout.size *= (shape[1] + block - 1) / block;
  layout.axes[0] = {1, layout.size, 0};
  layout.size *= shape[0];
  return layout;
}

poly::Affine offset_of(const isl::multi_aff& at, const Layout& layout,
                       const std::vector<poly::Interval>& ranges) {
  poly::Affine offset = poly::constant_of(ranges.size(), layout.origin);
  for (size_t i = 0; i < layout.axes.size(); ++i) {
    const Layout::Axis& axis = layout.axes[i];
    poly::Affine index = poly::narrowed(poly::take_apart(at.at(static_cast<int>(i))), ranges);
    if (axis.block == 1) {
      offset = poly::plus(offset, index, axis.outer);
      continue;
    }
    offset = poly::plus(offset, index, axis.inner);
    offset = poly::plus(offset, poly::floor_of(index, axis.block, ranges),
                        axis.outer - axis.block * axis.inner);
  }
  return offset;
}

long offset_of(const std::vector<long>& index, const Layout& layout) {
  long offset = layout.origin;
  for (size_t i = 0; i < index.size(); ++i) {
    const Layout::Axis& axis = layout.axes[i];
    offset += index[i] / axis.block * axis.outer + index[i] % axis.block * axis.inner;
  }
  return offset;
}

}  // namespace lathe
