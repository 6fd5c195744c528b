// Strided accesses that make up squares: the rows of a square are read or written instead, and
// transposed.
//
//   v0 = load X + 0 by 100  x4         the four columns of a square: its rows, which lie side by
//   v1 = load X + 1 by 100  x4    =>   side in memory, are loaded as vectors and transposed
//   v2 = load X + 2 by 100  x4
//   v3 = load X + 3 by 100  x4
#pragma once

#include <map>
#include <vector>

#include "codegen/code.h"

namespace lathe {

/// The squares of a block. The key is the instruction where a square is loaded (its first one) or
/// stored (its last one); the value is all its instructions, in the order of their offsets.
using Squares = std::map<size_t, std::vector<size_t>>;

/// Finds squares of "side" accesses whose vectors are multiples of "side" lanes.
Squares find_squares(const Code& code, const Block& block, long side);

}  // namespace lathe
