// reduce_log_sum.cpp: the logarithm of the sum along some dimensions.
//
//   S[n, c] += I[n, c, h, w];  O[n, c] = log(S[n, c])
#include <limits>

#include "ops/op_reduce.h"

namespace lathe::ops {

Op reduce_log_sum() {
  return reduce({.name = "reduce_log_sum",
                 .summary = "logarithm of the sum along some dimensions",
                 .of_none = -std::numeric_limits<double>::infinity(),
                 .leave = [](Expr s, Element, long) { return call(Expr::Op::log, {s}); },
                 .between = real_element});
}

}  // namespace lathe::ops
