// remove_unused_functions.cpp: a pass of other compilers that has nothing to do here.
#include "passes/pass.h"

namespace lathe::passes {

Pass remove_unused_functions() {
  return without_work("RemoveUnusedFunctions", "take out functions that nobody calls",
                      "a graph has no functions: those of ONNX are expanded as it is read");
}

}  // namespace lathe::passes
