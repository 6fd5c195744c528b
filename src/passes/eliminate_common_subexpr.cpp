// eliminate_common_subexpr.cpp: of nodes that compute the same, one stays.
//
//   a = relu(x)                  a = relu(x)
//   b = relu(x)            =>    y = add(a, a)
//   y = add(a, b)
//
// Constants with equal elements are one too.
#include <algorithm>
#include <map>

#include "base/random.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// Makes equal constants one.
void unite_constants(Rewrite& rewrite) {
  std::map<std::pair<std::string, uint64_t>, std::vector<ValueId>> known;
  for (ValueId id = 0; id < rewrite.graph.values.size(); ++id) {
    const Value& value = rewrite.graph.values[id];
    if (value.kind != Value::Kind::constant || value.type.element == Element::string) continue;
    std::vector<ValueId>& alike = known[{print_type(value.type), hash_data(value.data->bytes())}];
    auto same = std::find_if(alike.begin(), alike.end(), [&](ValueId other) {
      return *rewrite.graph.values[other].data == *value.data;
    });
    if (same != alike.end()) {
      rewrite.replace_uses(id, *same);
    } else {
      alike.push_back(id);
    }
  }
}

/// Returns a text that two nodes share only if they compute the same.
std::string key_of(const Graph& graph, const Node& node) {
  std::string key =
      fmt::format("{} {} {}", node.op, node.outputs.size(), fmt::join(node.inputs, ","));
  Call call = call_of(graph, node);
  for (const auto& [name, value] : call.attributes()) {
    key += fmt::format(" {}={}", name, print_attribute(value));
  }
  return key;
}

Graph run_eliminate_common_subexpr(const Graph& graph, const PassContext& /*context*/) {
  Rewrite rewrite(graph);
  unite_constants(rewrite);
  std::map<std::string, size_t> known;
  for (size_t n = 0; n < rewrite.graph.nodes.size(); ++n) {
    const Node& node = rewrite.graph.nodes[n];
    auto [first, is_new] = known.emplace(key_of(rewrite.graph, node), n);
    if (is_new) continue;
    // A node of an output stays for its name; others still read the first.
    const Node& same = rewrite.graph.nodes[first->second];
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      rewrite.replace_uses(node.outputs[i], same.outputs[i]);
    }
  }
  return rewrite.finish();
}

}  // namespace

Pass eliminate_common_subexpr() {
  return {"EliminateCommonSubexpr", "compute what several nodes compute once",
          run_eliminate_common_subexpr};
}

}  // namespace lathe::passes
