// Runs operators on arrays by interpreting their nests: plain, and right before it is fast.
#pragma once

#include "nest/nest.h"
#include "ops/op.h"

namespace lathe {

/// Returns the nest of a call as it is best interpreted: loops of sums in an order in which the
/// innermost runs along memory. Nothing if the call runs without a nest.
std::optional<Nest> executable(isl::ctx ctx, const Call& call);

/// Runs the nest of a call on its operands; "outputs" are the types of its outputs.
std::vector<Array> run_nest(const Nest& nest, const std::vector<Array>& inputs,
                            const std::vector<Type>& outputs);

}  // namespace lathe
