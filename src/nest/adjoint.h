// Gradients of nests, by exchanging the roles of their accesses.
//
//   O[f] += W[g] * I[h]     by I:     dI[h] += dO[f] * W[g]
//                           by W:     dW[g] += dO[f] * I[h]
//
// dX stands for the derivative of some number by X. Operators need no rule of their own: every nest
// whose statements are differentiable has a gradient, and the gradient is a nest, too. Windows that
// overlap are turned around (gather.h); the gradient is then as fast as the nest.
#pragma once

#include <optional>
#include <vector>

#include "nest/nest.h"

namespace lathe {

struct Adjoint {
  Nest nest;
  /// The operands of the nest, in order: first the values of some tensors of the original, then the
  /// gradients of some of its outputs.
  std::vector<size_t> values, gradients;
};

/// Returns the nest that computes the gradient by tensor "by", an input or a weight, from the
/// gradients of the outputs. The gradient has no padding. Of equal maxima the first one counts, in
/// the order of the statement's coordinates. Returns nothing if the outputs do not depend on the
/// tensor, or if they change with it only in steps.
std::optional<Adjoint> adjoint_of(const Nest& nest, size_t by);

}  // namespace lathe
