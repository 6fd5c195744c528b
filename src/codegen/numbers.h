// The types in which the statements of a nest compute. They follow from the tensors that a
// statement touches, and from what the target has arithmetic for.
//
//   P[co, ow] += W[co, ci] * I[ci, ow]       all of f16: in f16, where the target multiplies it
//   S[co, ow] += W[co, ci] * I[ci, ow]       S of i32, the others of i8: in i32
//   O[co, ow] = max(S[co, ow] + B[co], 0)    O of f16, S of f32: in f32
#pragma once

#include "codegen/code.h"

namespace lathe {

/// Returns the type that every statement of the nest could compute in.
Number number_of(const Nest& nest);

/// Returns the type in which one statement computes.
Number number_of(const Nest& nest, const Statement& statement, const Target& target);

/// Returns the type of the value that it writes: integers, where it rounds and bounds it.
Number written_number(const Nest& nest, const Statement& statement, const Target& target);

/// Returns, for each tensor, the type of the variables that hold its elements.
std::vector<Number> numbers_of_tensors(const Nest& nest, const Target& target);

}  // namespace lathe
