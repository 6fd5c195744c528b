// Several operators computed as one: the calls that the operator "fused" is made of.
//
//   fused(x, w, r, calls=["conv(%0, %1)", "add(#0, %2)", "relu(#1)"])
//
// %i is operand i of the fused operator, #j the output of call j, _ an operand that is left out.
#pragma once

#include "ops/op.h"

namespace lathe::ops {

/// Where an operand of a part comes from.
struct Source {
  enum class Kind { nothing, operand, result } kind = Kind::nothing;
  size_t index = 0;
};

/// Does the call treat each element of its output alone, in one statement? Formulas do, what makes
/// another type of elements, batch normalisation with given statistics, and their gradients by
/// operands of the output's shape.
bool is_elementwise(const Call& call);

/// Does the call make other types of elements, each alone?
bool is_conversion(const Call& call);

/// One call of a fused operator as it is written: conv(%0, %1, pads=[1, 1, 1, 1]).
struct Part {
  const Op* op = nullptr;
  std::vector<Source> sources;
  Attributes attributes;
};

/// Prints a part as it is read.
std::string print(const Part& part);

/// A part with the types of its operands and of its only output.
struct TypedPart {
  Part part;
  Call call;
  Type result;
};

/// Returns the parts of a call of "fused". Fails where one is written wrongly, refers to what is
/// not there, or has no nest with one output, and where an operand or a result is not used.
std::vector<TypedPart> parts_of(const Call& fused);

/// Returns the nest of the parts, in sequence. A result that a later part reads is one local
/// tensor. A part that only chooses elements of an operand is not computed where that is possible
/// (op_fused_views.h).
Nest composed(isl::ctx ctx, const Call& fused, const std::vector<TypedPart>& parts);

/// Is no part that only chooses elements, a slice or a take, computed?
bool reads_through_views(const Call& fused);

}  // namespace lathe::ops
