// own_outputs.cpp: gives each output a value that a node computes for it alone.
//
//   output x, y, y        =>        output copy(x), y, copy(y)          x is an input
//
// The code of a network writes each output where the caller wants it.
#include <algorithm>

#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

Graph run_own_outputs(const Graph& graph, const PassContext& /*context*/) {
  Graph result = graph;
  std::vector<ValueId> seen;
  for (ValueId& id : result.outputs) {
    bool again = std::find(seen.begin(), seen.end(), id) != seen.end();
    if (result.values[id].kind == Value::Kind::computed && !again) {
      seen.push_back(id);
      continue;
    }
    ValueId copy = add_copy(result, id, ".out");
    result.nodes.push_back(copy_node(result, id, copy));
    id = copy;
  }
  return result;
}

}  // namespace

Pass own_outputs() {
  return {"OwnOutputs", "copy outputs that are inputs, constants or listed twice", run_own_outputs};
}

}  // namespace lathe::passes
