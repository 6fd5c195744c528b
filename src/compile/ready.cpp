// ready.cpp: the passes before a graph is compiled. Interface: ready.h.
#include "compile/ready.h"

#include <algorithm>

#include "passes/pass.h"
#include "passes/pass_fused.h"
#include "passes/pass_rewrite.h"

namespace lathe {
namespace {

/// Returns the graph with a copy of each output that no node computes for itself alone: an input, a
/// constant, or a value that is listed twice.
Graph with_own_outputs(const Graph& graph) {
  Graph result = graph;
  std::vector<ValueId> seen;
  for (ValueId& id : result.outputs) {
    bool again = std::find(seen.begin(), seen.end(), id) != seen.end();
    if (result.values[id].kind == Value::Kind::computed && !again) {
      seen.push_back(id);
      continue;
    }
    ValueId copy = passes::add_copy(result, id, ".out");
    result.nodes.push_back(passes::copy_node(result, id, copy));
    id = copy;
  }
  return result;
}

}  // namespace

Graph simplified(const Graph& graph, long workers, long memory) {
  // Pairs go together before storage is chosen: what is inside a node lies nowhere.
  return passes::with_fused_windows(with_own_outputs(optimised(graph, memory)), workers);
}

Graph stored(const Layouts& layouts, const LayoutChoice& choice) {
  Graph result = with_layouts(layouts, choice);
  for (const char* pass : {
           // After the layout is chosen: parts must lie as the whole does.
           "concat_in_place",
           // Last: a part of another value has no border of its own.
           "store_padding",
       }) {
    result = find_pass(pass).run(result);
  }
  return result;
}

Graph ready_to_compile(const Graph& graph, long workers, const LayoutChooser& choose, long memory) {
  Graph simple = simplified(graph, workers, memory);
  Layouts layouts = layouts_of(simple);
  auto choice = choose ? choose(layout_key(simple)) : std::nullopt;
  return stored(layouts, choice && fits(layouts, *choice) ? *choice : own_choice(layouts));
}

}  // namespace lathe
