// sigmoid.cpp: the logistic function.
//
//   O[c, h, w] = 1 / (1 + exp(-I[c, h, w]))
#include "ops/op_elementwise.h"

namespace lathe::ops {
namespace {

Expr logistic(const Expr& x) {
  return number(1) / (number(1) + call(Expr::Op::exp, {call(Expr::Op::neg, {x})}));
}

Nest nest(isl::ctx ctx, const Params& p) { return unary_nest(ctx, "sigmoid", p, logistic); }

}  // namespace

Op sigmoid() { return unary_op("sigmoid", "1 / (1 + exp(-x))", nest); }

}  // namespace lathe::ops
