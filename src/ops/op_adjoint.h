// Gradients of calls: what they read, and their nests.
#pragma once

#include <memory>
#include <optional>

#include "ops/op.h"

namespace lathe::ops {

/// Returns what the gradient of a call may read: its operands, its outputs, the gradients of these.
std::vector<std::optional<Operand>> adjoint_operands(const Call& of);

/// What a call of "adjoint" is the gradient of, and what it may read.
struct Differentiated {
  Call of;
  std::vector<std::optional<Operand>> operands;
};

/// Finds that out from the text that the adjoint has of it.
std::shared_ptr<const Differentiated> differentiated(const Call& adjoint);

/// The gradient of a call by one of its operands.
struct CallAdjoint {
  Nest nest;
  std::vector<bool> reads;  ///< which of adjoint_operands() it needs
};

/// Returns the gradient by operand "by"; nothing if the outputs do not depend on it, or only in
/// steps. Fails for calls without a nest.
std::optional<CallAdjoint> make_adjoint(isl::ctx ctx, const Call& of, size_t by);

}  // namespace lathe::ops
