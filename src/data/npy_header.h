// The header of a NumPy file, a Python dictionary, as a structure. For npy.cpp only.
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
#pragma once

#include <string>
#include <string_view>

#include "base/array.h"

namespace lathe {

constexpr size_t largest_npy_rank = 32;        // NumPy 1 has no more
constexpr long largest_npy_extent = 1L << 46;  // as count_of() in base/array.h

/// What the elements of the file are.
struct NpyHeader {
  std::string type;            // "<f4"
  bool fortran_order = false;  // does the first dimension vary fastest?
  Shape shape;
};

/// Parses the text of a header. Fails, naming the file "path", if the text is malformed or if a
/// dimension is negative or too large.
NpyHeader parse_npy_header(std::string_view text, const std::string& path);

}  // namespace lathe
