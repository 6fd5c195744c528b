// remove_unused_functions.cpp: a pass of other compilers that has nothing to do here.
#include "passes/pass.h"

namespace lathe::passes {

Pass remove_unused_functions() {
  return {"RemoveUnusedFunctions", "take out functions that nobody calls",
          [](const Graph& graph, const PassContext&) { return graph; }, Pass::Stage::graph,
          "a graph has no functions: those of ONNX are expanded as it is read"};
}

}  // namespace lathe::passes
