// Gradients of calls: what they read, and their nests.
#pragma once

#include <memory>
#include <optional>

#include "ops/op.h"

namespace lathe::ops {

/// Returns what a call's gradient may read: operands, outputs, and the gradients of the outputs.
std::vector<std::optional<Operand>> adjoint_operands(const Call& of);

/// What a call of "adjoint" is the gradient of, and what it may read.
struct Differentiated {
  Call of;
  std::vector<std::optional<Operand>> operands;
};

/// Reads it from the adjoint's attributes, which hold the call as text.
std::shared_ptr<const Differentiated> differentiated(const Call& adjoint);

/// The gradient of a call by one of its operands.
struct CallAdjoint {
  Nest nest;
  std::vector<bool> reads;  ///< which of adjoint_operands() it needs
};

/// Returns the gradient by operand "by"; nothing if the outputs do not depend on it, or change only
/// in steps, as rounding does. Fails for calls without a nest.
std::optional<CallAdjoint> make_adjoint(isl::ctx ctx, const Call& of, size_t by);

}  // namespace lathe::ops
