// Parts of a fused operator that only choose elements of an operand. What reads them reads the
// operand instead.
//
//   fused(x, w, calls=["slice(%0, ...)", "conv(#0, %1)"])    the convolution reads x[c + 32]
#pragma once

#include "ops/op_fused.h"
#include "ops/op_view.h"

namespace lathe::ops {

/// A part that is not computed: it is a view of an operand.
struct SeenThrough {
  size_t operand;
  Shape shape;  ///< of the operand
  View view;
};

/// Returns the operands of a part that are there, in order: those of its nest's inputs.
std::vector<Source> sources_of(const TypedPart& part);

/// Says of each part whether it is such a view, given the nests of all parts. A view that something
/// cannot read through is computed like any other part.
std::vector<std::optional<SeenThrough>> parts_seen_through(const std::vector<TypedPart>& parts,
                                                           const std::vector<Nest>& nests);

/// Returns where a statement that reads "tensor", which stands for a view, finds its elements in
/// the operand. Nothing: there is no such function, or padding would be something else.
std::optional<std::vector<isl::aff>> seen_through(const SeenThrough& seen, const Tensor& tensor,
                                                  const Access& access, const isl::set& domain);

}  // namespace lathe::ops
