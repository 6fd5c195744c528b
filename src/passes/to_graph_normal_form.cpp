// to_graph_normal_form.cpp: a pass of other compilers that has nothing to do here.
#include "passes/pass.h"

namespace lathe::passes {

Pass to_graph_normal_form() {
  return without_work("ToGraphNormalForm", "share what is computed once instead of naming it",
                      "a graph is in that form always");
}

}  // namespace lathe::passes
