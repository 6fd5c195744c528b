// simplify_expr.cpp: takes out what cancels.
//
//   reshape(reshape(x))  =>  reshape(x)        transpose(transpose(x))  =>  one transpose
//   x + 0, x - 0, x * 1, x / 1  =>  x          cast to the type that it has  =>  x
#include <algorithm>

#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// Are all elements of a value known, and this number?
bool is_all(const Graph& graph, ValueId id, double number) {
  const Value& value = graph.values[id];
  if (value.kind != Value::Kind::constant || !value.data || value.type.element == Element::string) {
    return false;
  }
  std::vector<double> numbers = value.data->reals();
  return std::all_of(numbers.begin(), numbers.end(), [&](double x) { return x == number; });
}

/// Returns the operand that a node copies; no_value if it computes something.
ValueId copied_by(const Graph& graph, const Node& node) {
  const Type& type = graph.values[node.outputs[0]].type;
  auto is = [&](size_t i) {
    return node.inputs[i] != no_value && graph.values[node.inputs[i]].type == type;
  };
  if (type.dynamic || node.inputs.empty()) return no_value;
  if (node.op == "cast") return is(0) ? node.inputs[0] : no_value;
  if (node.inputs.size() != 2 || !node.attributes.empty()) return no_value;
  bool commutes = node.op == "add" || node.op == "mul";
  if (!commutes && node.op != "sub" && node.op != "div") return no_value;
  double neutral = node.op == "add" || node.op == "sub" ? 0 : 1;
  if (is(0) && is_all(graph, node.inputs[1], neutral)) return node.inputs[0];
  if (commutes && is(1) && is_all(graph, node.inputs[0], neutral)) return node.inputs[1];
  return no_value;
}

/// Returns which dimension of the first transpose's input comes where, after both.
Shape both(const Shape& first, const Shape& second) {
  Shape result;
  for (long d : second) result.push_back(first[static_cast<size_t>(d)]);
  return result;
}

Graph run_simplify_expr(const Graph& graph, const PassContext& /*context*/) {
  Rewrite rewrite(graph);
  // Operands are simplified before their users: what a node reads is as simple as it gets.
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node node = rewrite.graph.nodes[n];
    if (node.outputs.size() != 1) continue;
    if (ValueId from = copied_by(rewrite.graph, node); from != no_value) {
      rewrite.become(n, "identity", {from});
      continue;
    }
    if ((node.op != "reshape" && node.op != "transpose") || node.inputs[0] == no_value) continue;
    auto producer = rewrite.producer(node.inputs[0]);
    if (!producer || rewrite.graph.nodes[*producer].op != node.op) continue;
    const Node before = rewrite.graph.nodes[*producer];
    Attributes attributes = node.attributes;
    if (node.op == "transpose") {
      attributes["perm"] = both(call_of(rewrite.graph, before).integers("perm"),
                                call_of(rewrite.graph, node).integers("perm"));
    }
    if (rewrite.graph.values[node.outputs[0]].type.dynamic) continue;
    rewrite.become(n, node.op, {before.inputs[0]}, attributes);
  }
  return rewrite.finish();
}

}  // namespace

Pass simplify_expr() {
  return {"SimplifyExpr", "take out what cancels, and numbers that change nothing",
          run_simplify_expr};
}

}  // namespace lathe::passes
