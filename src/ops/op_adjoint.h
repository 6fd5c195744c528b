// Gradients of calls: what they read, and their nests.
#pragma once

#include <optional>

#include "ops/op.h"

namespace lathe::ops {

/// Returns what the gradient of a call may read: its operands, its outputs, the gradients of these.
std::vector<std::optional<Operand>> adjoint_operands(const Call& of);

/// The gradient of a call by one of its operands.
struct CallAdjoint {
  Nest nest;
  std::vector<bool> reads;  ///< which of adjoint_operands() it needs
};

/// Returns the gradient by operand "by"; nothing if the outputs do not depend on it, or only in
/// steps. Fails for calls without a nest.
std::optional<CallAdjoint> make_adjoint(isl::ctx ctx, const Call& of, size_t by);

}  // namespace lathe::ops
