// Derivatives of the values that statements compute.
//
//   x * y + max(x, 0)    by x:    y + less(0, x)
#pragma once

#include <functional>

#include "nest/expr.h"

namespace lathe {

/// Returns the derivative of a value by one element. "is_variable" says which of the value's reads
/// are reads of that element. At a corner of a function the derivative is that of one side: for
/// max(x, 0) at 0 it is 0. Functions that are constant almost everywhere (floor, less) have none.
Expr derivative(const Expr& value, const std::function<bool(size_t read)>& is_variable);

/// Is the expression this number?
bool is_number(const Expr& value, double number);

/// Return the sum and the product. A zero is not added, and nothing is multiplied by one.
Expr sum_of(Expr a, Expr b);
Expr product_of(Expr a, Expr b);

/// Returns the expression with every read replaced by what "of" returns for it.
Expr with_reads(const Expr& value, const std::function<Expr(size_t read)>& of);

}  // namespace lathe
