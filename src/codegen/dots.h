// Dot products of narrow factors, which some targets have as one instruction.
//
//   vector for co < 4: vector for ci < 4:  S[co] += W[co, ci] * I[ci]
//
// W and I are of i8, S of i32: 16 factors of each make one instruction, which adds four products to
// each of the four sums. Factors of bf16 make two products a sum.
#pragma once

#include <optional>

#include "codegen/code.h"

namespace lathe {

/// A statement in two loops of lanes, of which the inner one adds to the sums of the outer one.
struct Dot {
  size_t own;     ///< the read of which each lane has factors of its own
  size_t common;  ///< the read whose factors all lanes share
  long terms;     ///< products that are added to a lane
};

/// Returns the dot product that a loop is inside the lanes of the loop at "lanes_depth", if the
/// target has it.
std::optional<Dot> dot_of(const LoopNode& loop, size_t lanes_depth, const Nest& nest,
                          const Target& target);

/// Is the statement the sum of products of two elements that are read?
bool adds_product(const Statement& s);

/// Returns the type of the sums that units of a machine add products of these factors to.
inline Element sum_of_products(Element factors) {
  return is_float(factors) ? Element::f32 : Element::i32;
}

/// Returns the type of 8-bit data that dot products of the target multiply by weights of i8.
Element dot_data(const Target& target);

/// Returns how many products a dot product of these factors adds to a sum; 0 if the target has
/// none.
long terms_of_dot(const Target& target, Element own, Element common);

}  // namespace lathe
