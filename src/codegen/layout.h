// Where the elements of a tensor lie in memory.
//
//   row-major   [n, c, h, w] at ((n*C + c)*H + h)*W + w
//   blocked     [n, c, h, w] at (((n*C/16 + c/16)*H + h)*W + w)*16 + c%16
//
// A nest names elements by their indices. It does not say where they lie: layouts are chosen apart
// from it.
#pragma once

#include "nest/nest.h"
#include "poly/linear.h"

namespace lathe {

struct Layout {
  /// Index i of a dimension lies  i/block*outer + i%block*inner  elements further.
  struct Axis {
    long block = 1, outer = 0, inner = 0;
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  long origin = 0;  ///< of the element whose indices are all 0
  std::vector<Axis> axes;
  long size = 0;  ///< elements to allocate

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Returns the row-major layout of a tensor, padding included.
Layout row_major_layout(const std::vector<long>& shape);

/// Returns a stride for elements of "bytes" bytes: "stride", or one cache line more. Elements that
/// are a large power of two apart contend for the same few lines of a cache; a longer stride avoids
/// that.
long spread(long stride, long bytes);

/// Returns the row-major layout of a tensor in which spread() chooses each stride.
Layout spread_layout(const std::vector<long>& shape, long bytes);

/// Returns the layout in which blocks of "block" indices of dimension 1 are innermost. The other
/// dimensions are row-major. The last block may be partly empty.
Layout blocked_layout(const std::vector<long>& shape, long block);

/// Returns the offset of the element "at". Both are functions of the same coordinates; "ranges" are
/// the ranges of these.
poly::Affine offset_of(const isl::multi_aff& at, const Layout& layout,
                       const std::vector<poly::Interval>& ranges);

/// Returns the offset of one element.
long offset_of(const std::vector<long>& index, const Layout& layout);

}  // namespace lathe
