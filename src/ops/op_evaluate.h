// Runs operators on arrays by interpreting their nests. It is simple rather than fast.
#pragma once

#include "nest/nest.h"
#include "ops/op.h"

namespace lathe {

/// Returns the nest of a call in the order that is quickest to interpret: the innermost loop of a
/// sum runs along memory. Returns nothing if the call runs without a nest.
std::optional<Nest> executable(isl::ctx ctx, const Call& call);

/// Runs the nest of a call on its operands; "outputs" are the types of its outputs.
std::vector<Array> run_nest(const Nest& nest, const std::vector<Array>& inputs,
                            const std::vector<Type>& outputs);

}  // namespace lathe
