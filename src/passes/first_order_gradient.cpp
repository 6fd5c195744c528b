// first_order_gradient.cpp: adds the gradients of a network as further outputs.
//
//   y = matmul(x, w)                   y = matmul(x, w)
//   output y                 =>        x.gradient = adjoint(w, 1)     of the sum of all of y
//                                      w.gradient = adjoint(x, 1)
//                                      output y, x.gradient, w.gradient
//
// They are by the inputs that are real numbers, then by the weights; what nothing depends on has
// none.
#include "autodiff/gradient.h"
#include "base/element.h"
#include "base/error.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

bool is_real(const Graph& graph, ValueId id) { return is_float(graph.values[id].type.element); }

/// Returns what there are gradients by: the inputs, then the weights.
std::vector<ValueId> learnt_and_given(const Graph& graph) {
  std::vector<ValueId> by;
  for (ValueId id : graph.inputs) {
    if (is_real(graph, id)) by.push_back(id);
  }
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].kind == Value::Kind::weight && is_real(graph, id)) by.push_back(id);
  }
  return by;
}

/// Returns all outputs that are real numbers, each element of which counts once.
std::vector<Counted> real_outputs(const Graph& graph) {
  std::vector<Counted> outputs;
  for (ValueId id : graph.outputs) {
    if (is_real(graph, id)) outputs.push_back({id, no_value});
  }
  if (outputs.empty()) fail("the network '{}' has no output of real numbers", graph.name);
  return outputs;
}

Graph run_first_order_gradient(const Graph& graph, const PassContext& /*context*/) {
  std::vector<ValueId> by = learnt_and_given(graph);
  Gradients gradients = with_gradients(graph, real_outputs(graph), by);
  Graph& result = gradients.graph;
  for (size_t i = 0; i < by.size(); ++i) {
    if (gradients.by[i] == no_value) continue;
    // Several values may have one gradient: each output is a copy with a name of its own.
    ValueId named = add_copy(result, by[i], ".gradient");
    result.nodes.push_back(copy_node(result, gradients.by[i], named));
    result.outputs.push_back(named);
  }
  return without_dead(result);
}

}  // namespace

Pass first_order_gradient() {
  return {.name = "FirstOrderGradient",
          .summary = "add the gradients of the outputs' sum by inputs and weights as outputs",
          .run = run_first_order_gradient,
          .adds_outputs = true};
}

}  // namespace lathe::passes
