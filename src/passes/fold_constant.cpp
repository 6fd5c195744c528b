// fold_constant.cpp: computes what does not depend on the network's inputs, before it runs.
//
//   constant a = [1, 2]                    constant b = [2, 4]
//   b = add(a, a)                =>        y = mul(x, b)
//   y = mul(x, b)
//
// Weights with data count as constants.
#include <algorithm>

#include "base/error.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

constexpr long most_bytes = 64L << 20;

long bytes_of(const Type& type) { return count_of(type.shape) * size_of(type.element); }

/// Would the outputs be too large to keep?
bool is_large(const std::vector<Type>& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const Type& type) { return !type.dynamic && bytes_of(type) > most_bytes; });
}

/// Returns the outputs of a node if they are known: its operands are, and they are not too large.
std::optional<std::vector<Array>> evaluated(isl::ctx ctx, const Graph& graph, const Node& node) {
  std::vector<Array> operands;
  for (ValueId id : node.inputs) {
    if (id == no_value) continue;
    if (!graph.values[id].data) return std::nullopt;
    operands.push_back(*graph.values[id].data);
  }
  Call call = call_of(graph, node);
  if (is_large(infer(call))) return std::nullopt;
  try {
    std::vector<Array> results = evaluate(ctx, call, operands);
    std::vector<Type> types;
    for (const Array& array : results) types.push_back({array.element(), array.shape()});
    if (is_large(types)) return std::nullopt;
    return results;
  } catch (const UserError&) {
    return std::nullopt;  // the network says what is wrong when it runs
  }
}

Graph run_fold_constant(const Graph& graph, const PassContext& /*context*/) {
  // What is not needed is not computed either.
  Rewrite rewrite(without_dead(graph));
  Context context;
  for (size_t n = 0; n < rewrite.graph.nodes.size(); ++n) {
    const Node& node = rewrite.graph.nodes[n];
    auto results = evaluated(context, rewrite.graph, node);
    if (!results) {
      refine_types(rewrite.graph, node);
      continue;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value& value = rewrite.graph.values[node.outputs[i]];
      const Array& data = results->at(i);
      value.kind = Value::Kind::constant;
      value.type = {data.element(), data.shape()};
      value.data = data;
    }
    rewrite.remove(n);
  }
  return rewrite.finish();
}

}  // namespace

Pass fold_constant() {
  return {"FoldConstant", "compute what depends on no input", run_fold_constant};
}

}  // namespace lathe::passes
