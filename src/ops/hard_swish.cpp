// hard_swish.cpp: swish with straight lines. Howard et al., "Searching for MobileNetV3", 2019.
//
//   O[c, h, w] = x * max(min(x + 3, 6), 0) / 6  with  x = I[c, h, w]
#include "ops/op_elementwise.h"

namespace lathe::ops {
namespace {

Expr swish(const Expr& x) {
  Expr at_most_6 = call(Expr::Op::min, {x + number(3), number(6)});
  return x * call(Expr::Op::max, {at_most_6, number(0)}) / number(6);
}

Nest nest(isl::ctx ctx, const Params& p) { return unary_nest(ctx, "hard_swish", p, swish); }

}  // namespace

Op hard_swish() { return unary_op("hard_swish", "x * max(min(x + 3, 6), 0) / 6", nest); }

}  // namespace lathe::ops
