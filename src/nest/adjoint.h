// Gradients of nests, by exchanging the roles of their accesses.
//
//   O[f] += W[g] * I[h]     by I:     dI[h] += dO[f] * W[g]
//                           by W:     dW[g] += dO[f] * I[h]
//
// dX stands for the derivative of some number by X. Nothing is known of any operator: every nest
// whose statements are differentiable has a gradient, and it is a nest like any other. Windows that
// overlap are turned around (gather.h), so that it is computed as fast as the nest itself.
#pragma once

#include <optional>
#include <vector>

#include "nest/nest.h"

namespace lathe {

struct Adjoint {
  Nest nest;
  /// What the operands of the nest are, in order: values of these tensors of the original, and
  /// then gradients of these outputs of it.
  std::vector<size_t> values, gradients;
};

/// Returns the nest that computes the gradient by tensor "by", an input or a weight, from the
/// gradients of the outputs: without its padding. Of equal maxima the first one in the order of the
/// statement's coordinates counts. Nothing if the outputs do not depend on the tensor, or only in
/// steps.
std::optional<Adjoint> adjoint_of(const Nest& nest, size_t by);

}  // namespace lathe
