// reduce_sum_square.cpp: the sum of squares along some dimensions.
//
//   O[n, c] += I[n, c, h, w] * I[n, c, h, w]
#include "ops/op_reduce.h"

namespace lathe::ops {

Op reduce_sum_square() {
  return reduce({.name = "reduce_sum_square",
                 .summary = "sum of squares along some dimensions",
                 .enter = [](Expr x, Element) { return x * x; }});
}

}  // namespace lathe::ops
