// Checks of the types of operands.
#pragma once

#include "ops/op.h"

namespace lathe::ops {

/// Fail unless the elements of operand "i" are floats, integers (truth values too), or numbers of
/// any kind.
void check_float(const Call& call, size_t i);
void check_integral(const Call& call, size_t i);
void check_number(const Call& call, size_t i);

/// Fails unless operand "i" broadcasts to "shape" without changing it.
void check_broadcasts_to(const Call& call, size_t i, const Shape& shape);

/// Returns the element type that the text attribute "name" names; it must be one of "allowed", or
/// of all numeric types where that is empty.
Element element_setting(const Call& call, const std::string& name,
                        const std::vector<Element>& allowed = {});

/// Returns the setting "to" of operators that add up: the element type of their sums.
Setting sums_setting();
/// Returns the element type in which a call adds up its first "factors" operands, or products of
/// them. That is theirs, if the setting "to" names no wider one: then they may be any narrower ones
/// of its kind. A bias, the operand behind them, is one of the summands.
Element sums_element(const Call& call, size_t factors);

/// Infers one output of the type of operand 0. Fails unless its elements are floats and it has the
/// dimension that the attribute "axis" names.
std::vector<Type> float_along_axis(const Call& call);

}  // namespace lathe::ops
