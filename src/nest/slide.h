// Windows that slide. The accesses of a statement tell which of its coordinates are positions of a
// window, and which are elements inside it.
//
//   O[co, oh, ow] += W[co, ci, kh, kw] * I[ci, oh + kh, ow + kw]     oh slides with kh, ow with kw
#pragma once

#include <string>
#include <vector>

#include "nest/nest.h"

namespace lathe {

/// One dimension along which a window slides by 1. Other coordinates may move it further, each by
/// its own step:  O[8*g + oh] += W[g, kh] * I[8*g + oh + kh].
struct Slide {
  size_t position, window;               ///< coordinates of the statement
  size_t in_data, in_weight, in_result;  ///< dimensions of the tensors
  long positions, elements;              ///< their extents
  /// Where the window's elements are in the weight: first + step * element. The gradient of a
  /// convolution has them in reverse.
  long first = 0, step = 1;
};

/// A statement that adds products of a window's weights and data.
struct Sliding {
  size_t weight, data;  ///< reads
  std::vector<Slide> slides;
  std::vector<size_t> others;  ///< coordinates that no window has
};

/// Finds the slides of a statement. Throws a UserError with the reason if there are none, if one
/// moves by more than 1, or if the windows are not a box times the other coordinates.
Sliding find_sliding(const Statement& statement);

}  // namespace lathe
