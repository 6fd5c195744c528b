// merge_composite.cpp: a pass of other compilers that has nothing to do here.
#include "passes/pass.h"

namespace lathe::passes {

Pass merge_composite() {
  return {"MergeComposite", "put patterns that a library has as one call into functions",
          [](const Graph& graph, const PassContext&) { return graph; }, Pass::Stage::graph,
          "no library is called: FuseOps makes one nest of such patterns"};
}

}  // namespace lathe::passes
