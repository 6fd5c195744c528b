// arg_max.cpp: where the greatest element along a dimension is.
#include "ops/op_select.h"

namespace lathe::ops {

Op arg_max() {
  return arg_op("arg_max", "index of the greatest element along one dimension", Prefer::greatest);
}

}  // namespace lathe::ops
