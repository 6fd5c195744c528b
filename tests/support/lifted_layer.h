// A layer that steps changed, as a nest and as a network of standard operators: both compute the
// same. The interpreter runs the nest; the network is compiled.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "compile/executor.h"
#include "nest/nest.h"
#include "ops/op_evaluate.h"
#include "program/lift.h"

namespace lathe::test {

/// A layer between an input and an output, its weights drawn at random.
inline Graph one_layer(const std::string& text) {
  Call call = parse_call(text);
  GraphBuilder g("net");
  std::vector<ValueId> operands;
  for (size_t i = 0; i < call.inputs(); ++i) {
    Initial normal{Initial::Kind::normal, 1};
    operands.push_back(i == 0 ? g.input("x", call.type(0))
                              : g.weight(fmt::format("w{}", i), call.shape(i), normal));
  }
  g.output(g.call(call.name(), operands, call.attributes(), "layer"));
  return initialised(g.build(), 1);
}

inline lathe::Array random_array(const Shape& shape) {
  lathe::Random random(7, "x");
  std::vector<double> values(static_cast<size_t>(count_of(shape)));
  for (double& v : values) v = random.normal();
  return lathe::Array::of_reals(Element::f32, shape, values);
}

/// Draws the numbers of a weight that a step added; a variance is positive.
inline lathe::Array added_weight(const Tensor& tensor) {
  lathe::Random random(3, tensor.name);
  bool is_variance = tensor.name.find("variance") != std::string::npos;
  std::vector<double> numbers(static_cast<size_t>(count_of(tensor.shape)));
  for (double& x : numbers) x = is_variance ? 0.5 + random.uniform() : random.normal();
  return lathe::Array::of_reals(Element::f32, tensor.shape, numbers);
}

/// Returns the graph of one layer in which the weights that steps added to its nest are further
/// operands of the layer. with_nest() takes the elements that it needs from them, as from the
/// layer's own: it may cut them into parts, leave some out, and use others several times.
inline Graph with_added_weights(Graph graph, const Nest& nest) {
  Node& node = graph.nodes.front();
  size_t own = node.inputs.size();
  for (const Tensor& tensor : nest.tensors()) {
    if (tensor.role != Role::input && tensor.role != Role::weight) continue;
    if (own > 0) {
      --own;  // a step's weights come behind the layer's
      continue;
    }
    bool is_state = tensor.name.find("variance") != std::string::npos ||
                    tensor.name.find("mean") != std::string::npos;
    Value value{"layer." + tensor.name,
                is_state ? Value::Kind::state : Value::Kind::weight,
                {Element::f32, tensor.shape}};
    value.data = added_weight(tensor);
    node.inputs.push_back(graph.values.size());
    graph.values.push_back(value);
  }
  return graph;
}

/// Compares a nest that steps made of the layer of "graph", which with_added_weights() returned,
/// with "lifted", the network that with_nest() made of both.
inline void expect_lifted_computes(const Graph& graph, const Nest& nest, const Graph& lifted) {
  lathe::Array x = random_array(graph.values[graph.inputs.front()].type.shape);
  std::vector<lathe::Array> operands{x};
  const std::vector<ValueId>& inputs = graph.nodes.front().inputs;
  for (size_t i = 1; i < inputs.size(); ++i) operands.push_back(*graph.values[inputs[i]].data);
  Type output = graph.values[graph.outputs.front()].type;
  std::vector<double> wanted = run_nest(nest, operands, {output}).front().reals();
  std::vector<double> got = Executor(lifted, {.target = native_target()}).run({x}).front().reals();
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], wanted[i], 1e-4 * std::max(1.0, std::abs(wanted[i]))) << "element " << i;
  }
}

}  // namespace lathe::test
