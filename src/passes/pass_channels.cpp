// pass_channels.cpp: what operators do to channels. Interface: pass_channels.h.
#include "passes/pass_channels.h"

#include <algorithm>

#include "ops/op.h"
#include "ops/op_adjoint.h"
#include "ops/op_formula.h"
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

/// One of the operators that a node computes: of a gradient, the operator that it is a gradient of.
struct Part {
  std::string op;
  std::optional<long> by;  ///< of a gradient: by which operand
};

Part part_of(const std::string& op, const Attributes& attributes) {
  auto of = attributes.find("of");
  if (op != "adjoint" || of == attributes.end()) return {op, std::nullopt};
  const auto& text = std::get<std::string>(of->second);
  auto by = attributes.find("by");
  return {text.substr(0, text.find('(')), by == attributes.end() ? 0 : std::get<long>(by->second)};
}

std::vector<Part> operators_of(const Graph& graph, const Node& node) {
  if (node.op != "fused") return {part_of(node.op, node.attributes)};
  std::vector<Part> result;
  for (const ops::TypedPart& typed : calls_of(graph, node)) {
    result.push_back(part_of(typed.part.op->name, typed.part.attributes));
  }
  return result;
}

/// A convolution, or its gradient, as the first of the operators that a node computes.
struct Convolution {
  Call call;                   ///< the convolution itself
  std::optional<long> by;      ///< of a gradient: by which operand
  std::optional<size_t> data;  ///< the operand of the node that is convolved
};

std::optional<Convolution> convolution_of(const Graph& graph, const Node& node) {
  if (node.op != "fused" && node.op != "adjoint" && node.op != "conv" &&
      node.op != "conv_transpose") {
    return std::nullopt;
  }
  ops::TypedPart first = calls_of(graph, node).front();
  Part part = part_of(first.part.op->name, first.part.attributes);
  if (part.op != "conv" && part.op != "conv_transpose") return std::nullopt;
  auto operand = [&](size_t i) -> std::optional<size_t> {
    const ops::Source& source = first.part.sources.at(i);
    if (source.kind != ops::Source::Kind::operand) return std::nullopt;
    return source.index;
  };
  if (!part.by) return Convolution{first.call, std::nullopt, operand(0)};
  Call call = ops::differentiated(first.call)->of;
  // Operands, the output, and then its gradient: that is what a gradient by the data convolves.
  size_t gradient = call.inputs() + 1;
  std::optional<size_t> data = *part.by == 0 ? operand(gradient) : std::nullopt;
  return Convolution{std::move(call), part.by, data};
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

/// Does a slice take all channels?
bool keeps_channels(const Graph& graph, const Node& node) {
  auto number = [&](const char* name, long otherwise) {
    auto found = node.attributes.find(name);
    return found == node.attributes.end() ? otherwise : std::get<Shape>(found->second).at(1);
  };
  const Shape& from = graph.values[node.inputs[0]].type.shape;
  return from.size() > 1 && number("sizes", 0) == from[1] && number("steps", 1) == 1;
}

}  // namespace

bool sums_channels(const Graph& graph, const Node& node) {
  return summed_operand(graph, node).has_value();
}

std::optional<size_t> summed_operand(const Graph& graph, const Node& node) {
  auto found = convolution_of(graph, node);
  return found && !is_depthwise(found->call) ? found->data : std::nullopt;
}

bool has_channels(const Graph& graph, const Node& node) {
  auto found = convolution_of(graph, node);
  return !found || !found->by || *found->by == 0;
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
  if (node.op == "slice") return keeps_channels(graph, node);
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
    bool reduces = part.by && (part.op == "reduce_mean" || part.op == "variance");
    return is_window(part.op) || is_formula(part.op) || part.op == "batch_norm" || reduces;
  });
}

}  // namespace lathe::passes
