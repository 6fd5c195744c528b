// Derivatives of the values that statements compute.
//
//   x * y + max(x, 0)    by x:    y + less(0, x)
#pragma once

#include <functional>

#include "nest/expr.h"

namespace lathe {

/// Returns the derivative of a value by the element that some of its reads are: those that
/// "is_variable" names. Where a function has a corner it is the derivative of one side: that of
/// max(x, 0) at 0 is 0. Functions that are constant almost everywhere (floor, less) have none.
Expr derivative(const Expr& value, const std::function<bool(size_t read)>& is_variable);

/// Is the expression this number?
bool is_number(const Expr& value, double number);

/// Returns the sum and the product, without zeros that are added and ones that are multiplied by.
Expr sum_of(Expr a, Expr b);
Expr product_of(Expr a, Expr b);

/// Returns the expression with every read replaced by what "of" returns for it.
Expr with_reads(const Expr& value, const std::function<Expr(size_t read)>& of);

}  // namespace lathe
