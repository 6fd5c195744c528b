// recompute.cpp: computes cheap values again for users that come much later
// (pass_recompute.h).
#include "passes/pass.h"
#include "passes/pass_recompute.h"

namespace lathe::passes {

Pass recompute() {
  return {"Recompute", "compute element-wise values again where that saves memory",
          [](const Graph& graph, const PassContext& context) {
            return recomputed(graph, context.memory);
          }};
}

}  // namespace lathe::passes
