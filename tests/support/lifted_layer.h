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

/// Gives the weights that a step added numbers of their own; a variance is positive.
inline Graph with_numbers(Graph graph) {
  for (Value& value : graph.values) {
    if (value.kind == Value::Kind::computed || value.kind == Value::Kind::input || value.data)
      continue;
    lathe::Random random(3, value.name);
    std::vector<double> numbers(static_cast<size_t>(count_of(value.type.shape)));
    for (double& x : numbers) {
      x = value.name.find("variance") != std::string::npos ? 0.5 + random.uniform()
                                                           : random.normal();
    }
    value.data = lathe::Array::of_reals(Element::f32, value.type.shape, numbers);
  }
  return graph;
}

/// Compares a nest that steps made of the layer of "graph" with "lifted", the network of it that
/// with_nest() and with_numbers() made.
inline void expect_lifted_computes(const Graph& graph, const Nest& nest, const Graph& lifted) {
  const Node& node = graph.nodes.front();
  lathe::Array x = random_array(graph.values[graph.inputs.front()].type.shape);
  std::vector<lathe::Array> operands{x};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    operands.push_back(*graph.values[node.inputs[i]].data);
  }
  for (const Tensor& tensor : nest.tensors()) {  // weights that the step added
    auto added = find_value(lifted, "layer." + tensor.name);
    if (tensor.role != Role::weight || !added) continue;
    operands.push_back(lifted.values[*added].data->with_shape(tensor.shape));
  }
  Type output = graph.values[graph.outputs.front()].type;
  std::vector<double> wanted = run_nest(nest, operands, {output}).front().reals();
  std::vector<double> got = Executor(lifted).run({x}).front().reals();
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], wanted[i], 1e-4 * std::max(1.0, std::abs(wanted[i]))) << "element " << i;
  }
}

}  // namespace lathe::test
