// Arithmetic on quasi-affine functions taken apart, where the ranges of their coordinates are
// known. Code generation does this thousands of times, so it works without isl.
#pragma once

#include "poly/relation.h"

namespace lathe::poly {

/// Returns the constant function of "arity" coordinates.
Affine constant_of(size_t arity, long value);

/// Returns  a + factor * b.
Affine plus(const Affine& a, const Affine& b, long factor = 1);

/// Returns  a / divisor  rounded down. The ranges help to simplify the floor: (16*x + y) / 16 is x
/// where 0 <= y < 16.
Affine floor_of(const Affine& a, long divisor, const std::vector<Interval>& ranges);

/// Returns bounds of "a" where the coordinates have these ranges. They may be wider than needed.
Interval bounds(const Affine& a, const std::vector<Interval>& ranges);

/// Returns "a" with the coordinates whose range is one number replaced by it, and floors
/// simplified.
Affine narrowed(const Affine& a, const std::vector<Interval>& ranges);

/// Are the two written the same way?
bool same(const Affine& a, const Affine& b);

}  // namespace lathe::poly
