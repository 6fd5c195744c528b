// pass_channels.cpp: what operators do to channels. Interface: pass_channels.h.
#include "passes/pass_channels.h"

#include <algorithm>

#include "ops/op.h"
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

bool is_formula(std::string_view op) {
  return std::any_of(formulas().begin(), formulas().end(),
                     [&](const Formula& formula) { return formula.name == op; });
}

/// Returns the operators that a node computes: those inside, if it is several in one.
std::vector<std::string> operators_of(const Node& node) {
  auto calls = node.attributes.find("calls");
  if (node.op != "fused" || calls == node.attributes.end()) return {node.op};
  std::vector<std::string> result;
  for (const std::string& text : std::get<std::vector<std::string>>(calls->second)) {
    result.push_back(text.substr(0, text.find('(')));
  }
  return result;
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

bool is_convolution(const Node& node) {
  std::string op = operators_of(node).front();
  return op == "conv" || op == "conv_transpose";
}

bool sums_channels(const Graph& graph, const Node& node) {
  if (!is_convolution(node)) return false;
  bool transposed = operators_of(node).front() == "conv_transpose";
  // The weights' second dimension is the input channels of a group, or (transposed) the filters.
  const Shape& weights = graph.values[node.inputs.at(1)].type.shape;
  return weights.size() > 1 && (transposed || weights[1] > 1);
}

bool walks_channels(const Graph& graph, const Node& node) {
  if (!is_convolution(node)) return false;
  if (!sums_channels(graph, node)) return true;
  auto calls = calls_of(graph, node);
  return std::any_of(calls.begin(), calls.end(), [](const ops::TypedPart& typed) {
    return typed.part.op->name == "conv" && typed.call.type(1).shape[1] == 1;
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
  std::vector<std::string> all = operators_of(node);
  return std::all_of(all.begin(), all.end(), [](const std::string& op) {
    return is_window(op) || is_formula(op) || op == "batch_norm";
  });
}

}  // namespace lathe::passes
