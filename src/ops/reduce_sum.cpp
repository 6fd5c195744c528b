// reduce_sum.cpp: the sum along some dimensions.
//
//   O[n, c] += I[n, c, h, w]
#include "ops/op_check.h"
#include "ops/op_reduce.h"

namespace lathe::ops {

Op reduce_sum() {
  Op op = reduce({.name = "reduce_sum", .summary = "sum along some dimensions"});
  op.graph.settings.push_back(sums_setting());
  op.examples.push_back("reduce_sum(i8[3x2], axes=[0], to=\"i32\")");
  return op;
}

}  // namespace lathe::ops
