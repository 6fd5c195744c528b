// add.cpp: the sum of two tensors; the second may be repeated along some dimensions.
//
//   O[c, h, w] = A[c, h, w] + B[c, h, w]        with bh=1, bw=1:  A[c, h, w] + B[c, 0, 0]
#include "ops/op_elementwise.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  return binary_nest(ctx, "add", p, [](const Expr& a, const Expr& b) { return a + b; });
}

}  // namespace

Op add() { return binary_op("add", "a + b", nest); }

}  // namespace lathe::ops
