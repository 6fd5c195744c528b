// Sums of narrow numbers, added up in a wider type.
//
//   O[c] += W[c, k] * I[k]     =>     S[c] += W[c, k] * I[k];  O[c] = S[c]       O of f16, S of f32
//
// What an operator adds up is rounded once, when the sum is complete. Where a sum may be rounded on
// the way, a step says so (subsum).
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Does some statement add to the elements of the tensor?
bool has_sums(const Nest& nest, size_t tensor);

/// Gives a result a local tensor for its sums: the last one of the nest. A statement of this name
/// copies it after all others.
Nest with_own_sums(const Nest& nest, size_t output, const std::string& copy = "round");

/// Returns the nest with all sums in f32 that would be in f16, bf16 or tf32.
Nest with_wide_sums(const Nest& nest);

}  // namespace lathe
