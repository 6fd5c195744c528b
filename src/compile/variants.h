// A network compiled for several shapes of its inputs, as one library holds it.
//
//   std::vector<Compiled> variants = {compile(one), compile(eight)};
//   std::vector<std::byte> weights = join_weights(variants);     steps of both refer to these
#pragma once

#include "compile/compile.h"

namespace lathe {

/// Fails unless the variants are one network: the same inputs and outputs but for their extents,
/// and no two of them for the same shapes.
void check_variants(const std::vector<Compiled>& variants);

/// Returns the weights of all variants, and makes their steps refer to them. Weights that several
/// variants read in the same order are there once. The variants keep none of their own.
std::vector<std::byte> join_weights(std::vector<Compiled>& variants);

}  // namespace lathe
