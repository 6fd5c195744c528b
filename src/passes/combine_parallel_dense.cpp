// combine_parallel_dense.cpp: computes fully connected layers of one input as one
// (pass_parallel.h).
#include "passes/pass.h"
#include "passes/pass_parallel.h"

namespace lathe::passes {

Pass combine_parallel_dense() {
  return {"CombineParallelDense", "compute fully connected layers of one input as one",
          [](const Graph& graph, const PassContext&) {
            return with_parallel_combined(graph, "fully_connected");
          }};
}

}  // namespace lathe::passes
