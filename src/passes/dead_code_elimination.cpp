// dead_code_elimination.cpp: takes out nodes and values that no output needs.
#include "ops/op.h"
#include "passes/pass.h"

namespace lathe::passes {

Pass dead_code_elimination() {
  return {"DeadCodeElimination", "take out what no output needs",
          [](const Graph& graph, const PassContext&) {
            Graph result = without_dead(graph);
            verify_types(result);
            return result;
          }};
}

}  // namespace lathe::passes
