// convert_layout.cpp: a pass of other compilers that has nothing to do here.
#include "passes/pass.h"

namespace lathe::passes {

Pass convert_layout() {
  return without_work(
      "ConvertLayout", "write operators for another order of dimensions",
      "operators have one order, channels before rows; AlterOpLayout chooses how values lie");
}

}  // namespace lathe::passes
