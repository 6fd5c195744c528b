// fast_math.cpp: puts cheaper functions in the place of dear ones, at a stated loss of precision.
//
//   y = gelu(x)      =>        y = fast_gelu(x)
//
// Code calls the C library for erf, and divides by a whole exponential for the others; what comes
// instead is one quotient of two short polynomials (ops/op_formula.cpp). The exponential itself
// stays, and so does a softmax: code already computes it as a polynomial, for all lanes at once.
#include <map>

#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// What an operator becomes; all are of one operand.
const std::map<std::string, std::string> cheaper = {
    {"tanh", "fast_tanh"},   {"erf", "fast_erf"},   {"sigmoid", "fast_sigmoid"},
    {"swish", "fast_swish"}, {"gelu", "fast_gelu"}, {"gelu_tanh", "fast_gelu_tanh"},
};

Graph run_fast_math(const Graph& graph, const PassContext& /*context*/) {
  Rewrite rewrite(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    auto found = cheaper.find(node.op);
    // More precise numbers are asked for on purpose, and a setting makes it another function.
    if (found == cheaper.end() || !node.attributes.empty()) continue;
    if (graph.values[node.inputs[0]].type.element != Element::f32) continue;
    rewrite.become(n, found->second, node.inputs);
  }
  return rewrite.finish();
}

}  // namespace

Pass fast_math() {
  return {.name = "FastMath",
          .summary =
              "put quotients of polynomials in the place of tanh, erf and what is made of "
              "them",
          .run = run_fast_math,
          .tolerance = 5e-5};
}

}  // namespace lathe::passes
