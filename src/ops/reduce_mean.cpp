// reduce_mean.cpp: the mean along some dimensions.
//
//   S[n, c] += I[n, c, h, w];  O[n, c] = S[n, c] / (H*W)
#include <limits>

#include "ops/op_reduce.h"

namespace lathe::ops {

Op reduce_mean() {
  return reduce(
      {.name = "reduce_mean",
       .summary = "mean along some dimensions",
       .of_none = std::numeric_limits<double>::quiet_NaN(),
       .leave = [](Expr s, Element, long count) { return s / number(static_cast<double>(count)); },
       .between = sum_element});
}

}  // namespace lathe::ops
