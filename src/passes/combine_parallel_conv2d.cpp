// combine_parallel_conv2d.cpp: computes convolutions of one input as one (pass_parallel.h).
#include "passes/pass.h"
#include "passes/pass_parallel.h"

namespace lathe::passes {

Pass combine_parallel_conv2d() {
  return {
      "CombineParallelConv2D", "compute convolutions of one input as one",
      [](const Graph& graph, const PassContext&) { return with_parallel_combined(graph, "conv"); }};
}

}  // namespace lathe::passes
