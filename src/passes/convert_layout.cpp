// convert_layout.cpp: a pass of other compilers that has nothing to do here.
#include "passes/pass.h"

namespace lathe::passes {

Pass convert_layout() {
  return {"ConvertLayout", "write operators for another order of dimensions",
          [](const Graph& graph, const PassContext&) { return graph; }, Pass::Stage::graph,
          "operators have one order, channels before rows; AlterOpLayout chooses how values lie"};
}

}  // namespace lathe::passes
