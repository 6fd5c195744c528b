// Sets of integer tuples: bounds, membership, counting, text.
//
// Counting is exact, and quick because it multiplies wherever it can. The counts of independent
// coordinates are multiplied. In the image of a box under a linear function, the extents of the
// coordinates that the value determines are multiplied too; only a small rest is enumerated.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poly/affine.h"

namespace lathe::poly {

/// The integers lower, lower + 1, ..., upper; none if upper < lower.
struct Interval {
  long lower;
  long upper;
  long size() const { return upper < lower ? 0 : upper - lower + 1; }
};

/// Returns the sides of "set" if it is written as one box, nothing otherwise.
std::optional<std::vector<Interval>> sides(const isl::set& set);

/// Is "set" written as a box with a corner at 0?
bool is_box_from_zero(const isl::set& set);

/// Is "set" written as { x : 0 <= x[i] < extents[i] }?
bool is_box(const isl::set& set, const std::vector<long>& extents);

/// Returns the range of coordinate "i" in a bounded, non-empty "set".
Interval range(const isl::set& set, size_t i);

/// Returns the range of "a" on a bounded, non-empty "set".
Interval range(const isl::set& set, const isl::aff& a);

/// Returns the value of "a" if the equalities of "set" show that it is the same everywhere:
/// x / 4 - y / 4 where x = y is 0. Nothing may be returned for others that are constant.
std::optional<long> constant_on(const isl::set& set, const isl::aff& a);

/// Do "a" itself, or the equalities of "set", show that it is 0 everywhere? It may be 0 where they
/// do not.
bool shows_zero(const isl::set& set, const isl::aff& a);

/// Returns the elements of "set" that "function" maps into "target". Where bounds show that it maps
/// all of them there, "set" comes back as it is: a box stays one, and nothing is computed.
isl::set mapped_into(const isl::set& set, const isl::multi_aff& function, const isl::set& target);

/// Returns "set" with its pieces joined where they can be. (isl 0.25 may gain elements when it
/// joins three pieces with floors, { 0, 3 }, { 0 .. 2 } and { 0 .. 1 } say: such a result is not
/// taken.)
isl::set coalesced(const isl::set& set);

/// Returns "set" as a box where it is one, unchanged otherwise.
isl::set boxed(const isl::set& set);

/// Returns the function on "set" without the floors that are constant there: for 0 <= b < 16,
/// (16*a + b) / 16 is a.
isl::multi_aff simplified(const isl::multi_aff& function, const isl::set& set);

/// Returns an element of "set" if there is one. Of a small set it is the lexicographically first.
std::optional<std::vector<long>> sample(const isl::set& set);

/// Counts the elements of a bounded set. {[i,j] : 0 <= i < 4 and 0 <= j <= i} has 10.
long count(const isl::set& set);

/// Counts the distinct values of "function" on a bounded set. x + y on a 4 by 3 box has 6.
long count_image(const isl::set& set, const isl::multi_aff& function);

/// Which coordinates of "set" does the value of the function determine? 32*g + c determines both if
/// c < 32. The answer may be no instead of yes if the set is no box or the function is not linear.
std::vector<bool> determined(const isl::set& set, const isl::multi_aff& function);

/// A set and a function on it: stands for the function's values there.
struct Image {
  isl::set set;
  isl::multi_aff function;
};

/// Counts the distinct values of all "images" together.
long count_union(const std::vector<Image>& images);

/// A conjunction of constraints  expression >= 0  or  expression = 0.
struct Constraint {
  Affine expression;
  bool equality;
};

/// Returns the constraints of "set", one list per piece; an element satisfies all of one list.
std::vector<std::vector<Constraint>> constraints(const isl::set& set);

/// Does "x" satisfy every constraint of one of the "pieces"?
bool contains(const std::vector<std::vector<Constraint>>& pieces, std::span<const long> x);

}  // namespace lathe::poly
