// annotate_spans.cpp: a pass of other compilers that has nothing to do here.
#include "passes/pass.h"

namespace lathe::passes {

Pass annotate_spans() {
  return without_work("AnnotateSpans", "remember where in the source each node is from",
                      "a node's name is where it is from, and passes keep it");
}

}  // namespace lathe::passes
