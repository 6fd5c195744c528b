// arg_min.cpp: where the least element along a dimension is.
#include "ops/op_select.h"

namespace lathe::ops {

Op arg_min() {
  return arg_op("arg_min", "index of the least element along one dimension", Prefer::least);
}

}  // namespace lathe::ops
