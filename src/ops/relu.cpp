// relu.cpp: the rectified linear unit.
//
//   O[c, h, w] = max(I[c, h, w], 0)
#include "ops/op_elementwise.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  return unary_nest(ctx, "relu", p, [](const Expr& x) {
    return call(Expr::Op::max, {x, number(0)});
  });
}

}  // namespace

Op relu() { return unary_op("relu", "max(x, 0)", nest); }

}  // namespace lathe::ops
