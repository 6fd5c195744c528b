// pass_scale.cpp: see pass_scale.h.
#include "passes/pass_scale.h"

#include "ops/op.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {

std::optional<Scaling> scaling_of(const Graph& graph, const Node& node) {
  if (node.op != "mul") return std::nullopt;
  const Type& type = graph.values[node.outputs[0]].type;
  if (type.dynamic || type.shape.size() < 3) return std::nullopt;
  long channels = type.shape[1];
  for (size_t i : {size_t{0}, size_t{1}}) {
    ValueId image = node.inputs[i], scale = node.inputs[1 - i];
    if (graph.values[image].type != type || !is_known_before(graph, scale)) continue;
    Shape shape = graph.values[scale].type.shape;
    // Dimensions are counted from the last one.
    bool has_channels = shape.size() + 1 == type.shape.size() && shape[0] == channels;
    has_channels = has_channels ||
                   (shape.size() == type.shape.size() && shape[0] == 1 && shape[1] == channels);
    if (has_channels && count_of(shape) == channels) return Scaling{image, scale};
  }
  return std::nullopt;
}

bool takes_factors(const Graph& graph, const Node& conv) {
  Element weights = graph.values[conv.inputs[1]].type.element;
  return weights == graph.values[conv.outputs[0]].type.element &&
         call_of(graph, conv).real("padding") == 0;
}

}  // namespace lathe::passes
