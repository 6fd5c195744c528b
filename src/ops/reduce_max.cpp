// reduce_max.cpp: the largest element along some dimensions; of truth values, whether any holds.
//
//   O[n, c] max= I[n, c, h, w]
#include <limits>

#include "ops/op_reduce.h"

namespace lathe::ops {

Op reduce_max() {
  return reduce({.name = "reduce_max",
                 .summary = "largest element along some dimensions",
                 .of_none = -std::numeric_limits<double>::infinity(),
                 .update = Update::maximum});
}

}  // namespace lathe::ops
