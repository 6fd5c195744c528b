// merge_composite.cpp: a pass of other compilers that has nothing to do here.
#include "passes/pass.h"

namespace lathe::passes {

Pass merge_composite() {
  return without_work("MergeComposite",
                      "put patterns that a library has as one call into functions",
                      "no library is called: FuseOps makes one nest of such patterns");
}

}  // namespace lathe::passes
