// partition_graph.cpp: a pass of other compilers that has nothing to do here.
#include "passes/pass.h"

namespace lathe::passes {

Pass partition_graph() {
  return without_work("PartitionGraph", "give parts of a graph to other compilers",
                      "one compiler makes all of the code");
}

}  // namespace lathe::passes
