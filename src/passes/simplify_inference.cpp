// simplify_inference.cpp: takes out what matters only in training, or nothing at all.
//
//   y = conv(x, w)                                   y = conv(x, w', b')
//   z = batch_norm(y, scale, shift, m, v)     =>     with  w' = w * s,  b' = shift - m * s,
//                                                    s = scale / sqrt(v + epsilon)
//
// Where the node before cannot take the normalisation, it becomes a product and a sum with
// constants. Nodes that only copy a value go away.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// Is the output of a call its first operand, unchanged?
bool is_copy(const Call& call, const Type& output) {
  if (call.inputs() == 0 || !call.has(0) || call.type(0) != output || output.dynamic) return false;
  const std::string& name = call.name();
  if (name == "identity" || name == "reshape" || name == "expand" || name == "cast") return true;
  if (name == "pad") return true;  // it adds to the shape or does nothing
  if (name == "transpose") {
    const Shape& perm = call.integers("perm");
    return std::is_sorted(perm.begin(), perm.end());
  }
  if (name == "slice") {
    Shape steps = call.integers("steps", output.shape.size());
    return std::all_of(steps.begin(), steps.end(), [](long step) { return step == 1; });
  }
  return false;
}

void remove_copies(Rewrite& rewrite) {
  for (size_t n = 0; n < rewrite.graph.nodes.size(); ++n) {
    const Node& node = rewrite.graph.nodes[n];
    if (node.outputs.size() != 1 || node.inputs.empty() || node.inputs[0] == no_value) continue;
    ValueId from = node.inputs[0], to = node.outputs[0];
    if (!is_copy(call_of(rewrite.graph, node), rewrite.graph.values[to].type)) continue;
    auto producer = rewrite.producer(from);
    if (!rewrite.is_output(to)) {
      rewrite.replace_uses(to, from);
      rewrite.remove(n);
    } else if (producer && !rewrite.is_output(from)) {
      // The output keeps its name: the producer computes it.
      rewrite.remove(n);
      rewrite.replace_uses(from, to);
      rewrite.replace_output(*producer, from, to);
    }
  }
}

/// A normalisation as a factor and a summand for each channel.
struct Affine {
  std::vector<double> scale, shift;
};

std::optional<Affine> affine_of(const Graph& graph, const Node& norm) {
  std::vector<std::vector<double>> data;
  for (size_t i = 1; i < 5; ++i) {
    const Value& value = graph.values[norm.inputs[i]];
    if (!value.data) return std::nullopt;
    data.push_back(value.data->reals());
  }
  double epsilon = call_of(graph, norm).real("epsilon");
  Affine result;
  for (size_t c = 0; c < data[0].size(); ++c) {
    result.scale.push_back(data[0][c] / std::sqrt(data[3][c] + epsilon));
    result.shift.push_back(data[1][c] - data[2][c] * result.scale[c]);
  }
  return result;
}

/// Where an operator has its output channels in its weights: element i is of channel
/// i / group * channels + i / inner % channels.
struct Layout {
  size_t inner;     ///< elements from one channel to the next
  size_t channels;  ///< of one group
  size_t group;     ///< elements of one group; conv counts the channels of all groups as of one
};

std::optional<Layout> layout_of(const Call& call) {
  const Shape& weight = call.shape(1);
  auto elements = [&](size_t from) {
    return static_cast<size_t>(
        count_of(Shape(weight.begin() + static_cast<long>(from), weight.end())));
  };
  auto extent = [&](size_t i) { return static_cast<size_t>(weight[i]); };
  if (call.name() == "conv" || call.name() == "fully_connected") {
    return Layout{elements(1), extent(0), elements(0)};
  }
  if (call.name() == "conv_transpose") {
    return Layout{elements(2), extent(1),
                  elements(0) / static_cast<size_t>(call.integer("groups"))};
  }
  bool is_matrix = call.name() == "matmul" && weight.size() == 2 && call.shape(0).size() == 2;
  if (is_matrix) return Layout{1, extent(1), elements(0)};
  return std::nullopt;
}

Array scaled(const Array& weight, const Layout& layout, const std::vector<double>& scale) {
  std::vector<double> values = weight.reals();
  for (size_t i = 0; i < values.size(); ++i) {
    size_t channel = i / layout.group * layout.channels + i / layout.inner % layout.channels;
    values[i] *= scale[channel];
  }
  return Array::of_reals(weight.element(), weight.shape(), values);
}

/// Adds a value like "like" with other elements.
ValueId add_folded(Rewrite& rewrite, ValueId like, const Array& data) {
  const Value& value = rewrite.graph.values[like];
  return rewrite.add({value.name + ".folded", value.kind, {data.element(), data.shape()}, data});
}

/// Adds a constant of one number for each channel, which broadcasts over a tensor of "rank".
ValueId add_constant(Rewrite& rewrite, ValueId like, Element element, size_t rank,
                     const std::vector<double>& numbers) {
  Shape shape(rank - 1, 1);
  shape[0] = static_cast<long>(numbers.size());
  const std::string& name = rewrite.graph.values[like].name;
  Array data = Array::of_reals(element, shape, numbers);
  return rewrite.add({name + ".folded", Value::Kind::constant, {element, shape}, data});
}

/// Folds the normalisation into the node that computes its input; returns whether that could be.
bool fold_into_producer(Rewrite& rewrite, size_t n, const Affine& affine) {
  Graph& graph = rewrite.graph;
  ValueId x = graph.nodes[n].inputs[0], y = graph.nodes[n].outputs[0];
  auto producer = rewrite.only_for(n, x);
  if (!producer || graph.nodes[*producer].inputs.size() < 2) return false;
  Call call = call_of(graph, graph.nodes[*producer]);
  auto layout = layout_of(call);
  ValueId weight = graph.nodes[*producer].inputs[1];
  if (!layout || !graph.values[weight].data) return false;
  // Narrow weights would be rounded once more.
  if (graph.values[weight].type.element != graph.values[x].type.element) return false;
  std::vector<double> shift = affine.shift;
  bool has_bias = call.has(2);
  ValueId bias = has_bias ? graph.nodes[*producer].inputs[2] : graph.nodes[n].inputs[2];
  if (has_bias) {
    if (!graph.values[bias].data) return false;
    std::vector<double> before = graph.values[bias].data->reals();
    for (size_t c = 0; c < shift.size(); ++c) shift[c] += before[c] * affine.scale[c];
  }
  ValueId folded =
      add_folded(rewrite, weight, scaled(*graph.values[weight].data, *layout, affine.scale));
  graph.nodes[*producer].inputs[1] = folded;
  if (call.name() == "matmul") {
    ValueId summand = add_constant(rewrite, bias, call.element(0), 2, shift);
    Node& norm = graph.nodes[n];
    norm = {norm.name, "add", {}, {x, summand}, norm.outputs};
    return true;
  }
  Shape channels{static_cast<long>(shift.size())};
  ValueId summand = add_folded(rewrite, bias, Array::of_reals(call.element(0), channels, shift));
  graph.values[summand].kind = graph.values[weight].kind;
  graph.nodes[*producer].inputs.resize(2);
  graph.nodes[*producer].inputs.push_back(summand);
  rewrite.remove(n);
  rewrite.replace_output(*producer, x, y);
  return true;
}

void write_as_product(Rewrite& rewrite, size_t n, const Affine& affine) {
  const Node norm = rewrite.graph.nodes[n];
  const Type type = rewrite.graph.values[norm.inputs[0]].type;
  auto constant = [&](size_t like, const std::vector<double>& numbers) {
    return add_constant(rewrite, norm.inputs[like], type.element, type.shape.size(), numbers);
  };
  ValueId factor = constant(1, affine.scale), summand = constant(2, affine.shift);
  ValueId product = rewrite.add({norm.name + ".scaled", Value::Kind::computed, type});
  rewrite.graph.nodes[n] = {norm.name + ".scaled", "mul", {}, {norm.inputs[0], factor}, {product}};
  rewrite.insert_after(n, {norm.name, "add", {}, {product, summand}, norm.outputs});
}

Graph run_simplify_inference(const Graph& graph, const PassContext& /*context*/) {
  Rewrite rewrite(graph);
  remove_copies(rewrite);
  for (size_t n = 0; n < rewrite.graph.nodes.size(); ++n) {
    const Node& node = rewrite.graph.nodes[n];
    if (node.op != "batch_norm" || rewrite.graph.values[node.inputs[0]].type.dynamic) continue;
    auto affine = affine_of(rewrite.graph, node);
    if (!affine) continue;
    if (!fold_into_producer(rewrite, n, *affine)) write_as_product(rewrite, n, *affine);
  }
  return rewrite.finish();
}

}  // namespace

Pass simplify_inference() {
  return {"SimplifyInference", "fold normalisations into weights, take out copies",
          run_simplify_inference};
}

}  // namespace lathe::passes
