// Quasi-affine functions of a tuple of integers: building them, taking them apart, text.
//
//   32*g + co        (i + 3) / 4        i % 16        16*(f / 28) + ci
//
// "/" rounds down and "%" is never negative; both take a positive constant on the right.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "poly/isl.h"

namespace lathe::poly {

/// Returns the anonymous space of tuples of "dims" integers.
isl::space tuples(isl::ctx ctx, size_t dims);

/// Returns the number of integers in the tuples of a set, or in the arguments of a function.
size_t arity(const isl::set& set);
size_t arity(const isl::multi_aff& function);

/// Returns coordinate "i" of a tuple, or a constant, as a function on "domain".
isl::aff coordinate(const isl::space& domain, size_t i);
isl::aff constant(const isl::space& domain, long value);

/// Returns  a / factor  rounded down, and  a - factor * (a / factor).
isl::aff quotient(const isl::aff& a, long factor);
isl::aff remainder(const isl::aff& a, long factor);

/// Puts functions on "domain" side by side: x -> (parts[0](x), parts[1](x), ...).
isl::multi_aff tuple(const isl::space& domain, const std::vector<isl::aff>& parts);
isl::multi_aff identity(const isl::space& domain);

/// Returns the parts of "function", in order.
std::vector<isl::aff> parts(const isl::multi_aff& function);

/// Returns { x : 0 <= x[i] < extents[i] }.
isl::set box(isl::ctx ctx, const std::vector<long>& extents);

/// Are the two functions the same, written the same way?
bool same(const isl::aff& a, const isl::aff& b);

/// A quasi-affine function taken apart:
/// (sum coefficients[i]*x[i] + sum floors[k].coefficient*floor(floors[k].of) + constant) / divisor.
struct Affine {
  struct Floor;
  std::vector<long> coefficients;
  std::vector<Floor> floors;
  long constant = 0;
  long divisor = 1;

  /// Does the value depend on nothing?
  bool is_constant() const;
  /// Is it a sum of multiples of coordinates and a constant, with no floor?
  bool is_linear() const { return floors.empty() && divisor == 1; }
};
struct Affine::Floor {
  long coefficient;
  Affine of;
};

/// Takes "a" apart. As isl writes one floor in several ways, floors get a normal form: coefficients
/// from 0 to the divisor - 1, without a common factor; (-j) / 3 becomes (2*j) / 3 - j.
Affine take_apart(const isl::aff& a);

/// Returns the value of "a" at "x"; the function must be integral there.
long evaluate(const Affine& a, std::span<const long> x);

/// Which coordinates does "a" depend on (directly or inside a floor)?
std::vector<bool> involved(const Affine& a);
bool involves(const isl::aff& a, size_t coordinate);
bool involves(const isl::multi_aff& function, size_t coordinate);

/// Prints "a" with the coordinates called "names".
std::string text(const Affine& a, std::span<const std::string> names);
std::string text(const isl::aff& a, std::span<const std::string> names);

}  // namespace lathe::poly
