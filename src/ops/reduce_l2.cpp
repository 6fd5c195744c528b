// reduce_l2.cpp: the root of the sum of squares along some dimensions.
//
//   S[n, c] += I[n, c, h, w] * I[n, c, h, w];  O[n, c] = sqrt(S[n, c])
#include "ops/op_reduce.h"

namespace lathe::ops {

Op reduce_l2() {
  return reduce({.name = "reduce_l2",
                 .summary = "root of the sum of squares along some dimensions",
                 .enter = [](Expr x, Element) { return x * x; },
                 .leave = [](Expr s, Element, long) { return call(Expr::Op::sqrt, {s}); },
                 .between = real_element});
}

}  // namespace lathe::ops
