// tanh.cpp: the hyperbolic tangent.
//
//   O[c, h, w] = tanh(I[c, h, w])
#include "ops/op_elementwise.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  return unary_nest(ctx, "tanh", p, [](const Expr& x) { return call(Expr::Op::tanh, {x}); });
}

}  // namespace

Op tanh() { return unary_op("tanh", "hyperbolic tangent", nest); }

}  // namespace lathe::ops
