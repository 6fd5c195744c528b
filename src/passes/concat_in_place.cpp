// concat_in_place.cpp: the operands of a concatenation of channels are stored where it wants them.
//
//   y = conv(x);  z = concat(x, y)      y is written into z; z is x and y: nothing is copied
//
// A value can be a part of one other value only, and must be computed: not an input, nor an output
// that callers read. Parts begin at a block of the whole.
#include <algorithm>

#include "passes/pass.h"
#include "passes/pass_channels.h"

namespace lathe::passes {
namespace {

bool can_be_part(const Graph& graph, ValueId id, const Value& whole, long first) {
  const Value& value = graph.values[id];
  bool is_output = std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
  return value.kind == Value::Kind::computed && !is_output && value.storage.whole == no_value &&
         value.storage.block == whole.storage.block && first % whole.storage.block == 0 &&
         value.type.shape[1] % whole.storage.block == 0;
}

Graph run_concat_in_place(const Graph& graph, const PassContext& /*context*/) {
  Graph result = graph;
  // The largest first: a concatenation of a concatenation is a part of it.
  for (size_t n = result.nodes.size(); n-- > 0;) {
    const Node& node = result.nodes[n];
    if (node.op != "concat" || !takes_any_layout(result, node)) continue;
    ValueId whole = node.outputs.front();
    if (result.values[whole].type.dynamic || result.values[whole].type.shape.size() < 2) continue;
    long first = 0;
    for (ValueId id : node.inputs) {
      bool again = std::count(node.inputs.begin(), node.inputs.end(), id) > 1;
      if (!again && can_be_part(result, id, result.values[whole], first)) {
        result.values[id].storage.whole = whole;
        result.values[id].storage.first = first;
      }
      first += result.values[id].type.shape[1];
    }
  }
  return result;
}

}  // namespace

Pass concat_in_place() {
  return {"ConcatInPlace", "store the operands of a concatenation where it wants them",
          run_concat_in_place, Pass::Stage::storage};
}

}  // namespace lathe::passes
