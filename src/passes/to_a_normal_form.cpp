// to_a_normal_form.cpp: a pass of other compilers that has nothing to do here.
#include "passes/pass.h"

namespace lathe::passes {

Pass to_a_normal_form() {
  return without_work("ToANormalForm", "give each intermediate value a name",
                      "a graph is in that form always");
}

}  // namespace lathe::passes
