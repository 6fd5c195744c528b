// reduce_sum.cpp: the sum along some dimensions.
//
//   O[n, c] += I[n, c, h, w]
#include "ops/op_reduce.h"

namespace lathe::ops {

Op reduce_sum() { return reduce({.name = "reduce_sum", .summary = "sum along some dimensions"}); }

}  // namespace lathe::ops
