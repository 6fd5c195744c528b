// pass_channels.cpp: what operators do to channels. Interface: pass_channels.h.
#include "passes/pass_channels.h"

#include <algorithm>

#include "ops/op.h"
#include "ops/op_adjoint.h"
#include "ops/op_formula.h"
#include "ops/op_view.h"
#include "passes/pass_fused.h"

namespace lathe::passes {
namespace {

bool is_window(std::string_view op) {
  for (const char* name :
       {"conv", "conv_transpose", "max_pool", "avg_pool", "global_pool", "lp_pool", "upsample"}) {
    if (op == name) return true;
  }
  return false;
}

/// One of the operators that a node computes: of a gradient, or a gradient of one, the operator
/// that was differentiated first.
struct Part {
  std::string op;
  bool is_gradient = false;
  bool is_conversion = false;
};

Part part_of(const Call& call) {
  if (call.name() != "adjoint") return {call.name(), false, ops::is_conversion(call)};
  return {part_of(ops::differentiated(call)->of).op, true};
}

std::vector<Part> operators_of(const Graph& graph, const Node& node) {
  if (node.op != "fused" && node.op != "adjoint") return {part_of(call_of(graph, node))};
  std::vector<Part> result;
  for (const ops::TypedPart& typed : calls_of(graph, node)) {
    // What only chooses elements is not computed.
    if (node.op != "fused" || !ops::view_of(typed.call)) result.push_back(part_of(typed.call));
  }
  return result;
}

/// What a tensor is to a convolution; a gradient is what it is a gradient by.
enum class Place { data, weights, bias, result };

/// A convolution, or a gradient of one, and what its operands and its output are to it.
struct Convolved {
  Call call;  ///< the convolution itself
  std::vector<Place> operands;
  Place output;
};

std::optional<Convolved> convolved(const Call& call) {
  if (call.name() == "conv" || call.name() == "conv_transpose") {
    std::vector<Place> operands{Place::data, Place::weights, Place::bias};
    operands.resize(call.inputs(), Place::bias);
    return Convolved{call, std::move(operands), Place::result};
  }
  if (call.name() != "adjoint") return std::nullopt;
  auto of = convolved(ops::differentiated(call)->of);
  if (!of) return std::nullopt;
  Place by = of->operands.at(static_cast<size_t>(call.integer("by")));
  of->operands.insert(of->operands.end(), 2, of->output);  // the output, and its gradient
  of->output = by;
  return of;
}

/// A convolution, or its gradient, as the first of the operators that a node computes.
struct Convolution {
  Call call;                    ///< the convolution itself
  Place output;                 ///< what the node computes
  std::optional<size_t> data;   ///< the operand of the node that is convolved
  std::vector<size_t> weights;  ///< the operands that are weights, or gradients by them
};

std::optional<Convolution> convolution_of(const Graph& graph, const Node& node) {
  if (node.op != "fused" && node.op != "adjoint" && node.op != "conv" &&
      node.op != "conv_transpose") {
    return std::nullopt;
  }
  ops::TypedPart first = first_computed(graph, node);
  auto found = convolved(first.call);
  if (!found) return std::nullopt;
  Convolution result{found->call, found->output, std::nullopt, {}};
  Place convolves = found->output == Place::data ? Place::result : Place::data;
  for (size_t i = 0; i < first.part.sources.size(); ++i) {
    const ops::Source& source = first.part.sources[i];
    if (source.kind != ops::Source::Kind::operand) continue;
    Place place = found->operands.at(i);
    if (place == Place::weights) result.weights.push_back(source.index);
    bool makes_image = found->output == Place::data || found->output == Place::result;
    if (place == convolves && makes_image && !result.data) result.data = source.index;
  }
  return result;
}

/// Does a convolution work on each channel alone?
bool is_depthwise(const Call& call) {
  // The weights' second dimension is the input channels of a group, or (transposed) the filters.
  const Shape& weights = call.shape(1);
  return call.name() == "conv" && (weights.size() < 2 || weights[1] == 1);
}

/// Does a reduction leave the channels apart?
bool keeps_channels(const Call& call) {
  const Shape& axes = call.integers("axes");
  long rank = static_cast<long>(call.shape(0).size());
  return !axes.empty() && std::none_of(axes.begin(), axes.end(),
                                       [&](long axis) { return axis == 1 || axis == 1 - rank; });
}

bool is_view(const Node& node) { return node.op == "slice" || node.op == "take"; }

/// Does a node add channels, and nothing else?
bool adds_channels(const Graph& graph, const Node& node) {
  if (node.op != "pad") return false;
  Shape from = graph.values[node.inputs[0]].type.shape;
  Shape to = graph.values[node.outputs[0]].type.shape;
  if (from.size() < 2) return false;
  from[1] = to[1];
  return from == to;
}

/// Does a node that only chooses elements choose all channels?
bool keeps_channels(const Graph& graph, const Node& node) {
  const Shape& from = graph.values[node.inputs[0]].type.shape;
  auto view = from.size() > 1 ? ops::view_of(call_of(graph, node)) : std::nullopt;
  return view && static_cast<long>((*view)[1].size()) == from[1] && ops::is_stretch((*view)[1]);
}

}  // namespace

long groups_of(const Graph& graph, const Node& node) {
  auto convolution = convolution_of(graph, node);
  return convolution ? convolution->call.integer("groups") : 1;
}

bool sums_channels(const Graph& graph, const Node& node) {
  return summed_operand(graph, node).has_value();
}

std::optional<size_t> summed_operand(const Graph& graph, const Node& node) {
  auto found = convolution_of(graph, node);
  return found && !is_depthwise(found->call) ? found->data : std::nullopt;
}

bool has_channels(const Graph& graph, const Node& node) {
  auto found = convolution_of(graph, node);
  return !found || found->output == Place::data || found->output == Place::result;
}

std::vector<size_t> operands_apart(const Graph& graph, const Node& node) {
  if (is_view(node) && !keeps_channels(graph, node)) return {0};
  if (adds_channels(graph, node)) return {0};
  auto found = convolution_of(graph, node);
  if (!found) return {};
  std::vector<size_t> result = found->weights;
  if (found->data && !is_depthwise(found->call)) result.push_back(*found->data);
  return result;
}

bool walks_channels(const Graph& graph, const Node& node) {
  auto found = convolution_of(graph, node);
  if (!found) return false;
  if (is_depthwise(found->call)) return true;
  auto calls = calls_of(graph, node);
  return std::any_of(calls.begin(), calls.end(), [](const ops::TypedPart& typed) {
    return typed.part.op->name == "conv" && is_depthwise(typed.call);
  });
}

bool takes_any_layout(const Graph& graph, const Node& node) {
  if (adds_channels(graph, node)) return true;
  if (is_view(node)) return !graph.values[node.inputs[0]].type.dynamic;
  if (node.op == "concat") {
    auto axis = node.attributes.find("axis");
    long at = axis == node.attributes.end() ? 1 : std::get<long>(axis->second);  // its default
    long rank = static_cast<long>(graph.values[node.outputs.front()].type.shape.size());
    return at == 1 || at == 1 - rank;
  }
  for (const char* reduction : {"reduce_sum", "reduce_mean", "variance"}) {
    if (node.op == reduction) return keeps_channels(call_of(graph, node));
  }
  std::vector<Part> all = operators_of(graph, node);
  return std::all_of(all.begin(), all.end(), [](const Part& part) {
    bool reduces = part.is_gradient && (part.op == "reduce_mean" || part.op == "variance");
    return is_window(part.op) || is_formula(part.op) || part.op == "batch_norm" || reduces ||
           part.is_conversion;
  });
}

}  // namespace lathe::passes
