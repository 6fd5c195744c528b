// reduce_l1.cpp: the sum of the absolute values along some dimensions.
//
//   O[n, c] += abs(I[n, c, h, w])
#include "ops/op_reduce.h"

namespace lathe::ops {

Op reduce_l1() {
  return reduce({.name = "reduce_l1",
                 .summary = "sum of absolute values along some dimensions",
                 .enter = [](Expr x, Element) { return call(Expr::Op::abs, {x}); }});
}

}  // namespace lathe::ops
