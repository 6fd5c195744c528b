// Gradients of graphs, compiled, against finite differences in double precision.
#include "autodiff/gradient.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autodiff/training.h"
#include "base/random.h"
#include "compile/executor.h"
#include "models/model.h"
#include "ops/op_graph.h"

namespace lathe {
namespace {

Array drawn(const Shape& shape, const std::string& name) {
  Random random(5, name);
  std::vector<double> values(static_cast<size_t>(count_of(shape)));
  for (double& value : values) value = random.normal();
  return Array::of_reals(Element::f64, shape, values);
}

/// A network in double precision while it is put together.
struct Net {
  GraphBuilder g{"net"};
  ValueId x;

  explicit Net(const Shape& shape) : x(g.input("x", {Element::f64, shape})) {}

  ValueId weight(const std::string& name, const Shape& shape) {
    return g.weight(name, drawn(shape, name));
  }
  ValueId conv(const std::string& name, ValueId from, const Shape& shape,
               const Attributes& attributes = {}) {
    return g.call("conv", {from, weight(name + ".weight", shape)}, attributes, name);
  }
  ValueId norm(const std::string& name, ValueId from, long channels) {
    return g.call("batch_norm",
                  {from, weight(name + ".scale", {channels}), weight(name + ".shift", {channels}),
                   weight(name + ".mean", {channels}), weight(name + ".variance", {channels})},
                  {}, name);
  }
  ValueId relu(ValueId from) { return g.call("relu", {from}); }
};

/// Returns the sum of all elements of a graph's only output.
double sum_of_output(const Graph& graph, const std::vector<Array>& inputs) {
  double sum = 0;
  for (double value :
       Executor(graph, {.target = native_target(), .cache = false}).run(inputs)[0].reals())
    sum += value;
  return sum;
}

/// Compares the gradients of "of" by weights and input, some elements of each.
void compare(Graph graph, ValueId of) {
  graph.outputs = {of};
  std::vector<ValueId> by = graph.inputs;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].kind == Value::Kind::weight) by.push_back(id);
  }
  std::vector<Array> inputs;
  for (ValueId id : graph.inputs) {
    inputs.push_back(drawn(graph.values[id].type.shape, graph.values[id].name));
  }
  Gradients gradients = with_gradients(graph, of, by);
  Graph with = gradients.graph;
  with.outputs.clear();
  std::vector<ValueId> wanted;
  for (size_t i = 0; i < by.size(); ++i) {
    if (gradients.by[i] == no_value) continue;
    with.outputs.push_back(gradients.by[i]);
    wanted.push_back(by[i]);
  }
  std::vector<Array> found =
      Executor(without_dead(with), {.target = native_target(), .cache = false}).run(inputs);
  constexpr double step = 1e-5;
  for (size_t i = 0; i < wanted.size(); ++i) {
    SCOPED_TRACE(graph.values[wanted[i]].name);
    std::vector<double> gradient = found[i].reals();
    for (size_t k = 0; k < gradient.size(); k += 1 + gradient.size() / 4) {
      auto moved = [&](double by_much) {
        Graph other = graph;
        std::vector<Array> data = inputs;
        auto input = std::find(graph.inputs.begin(), graph.inputs.end(), wanted[i]);
        bool is_input = input != graph.inputs.end();
        Array& array = is_input ? data[static_cast<size_t>(input - graph.inputs.begin())]
                                : *other.values[wanted[i]].data;
        std::vector<double> values = array.reals();
        values[k] += by_much;
        array = Array::of_reals(Element::f64, array.shape(), values);
        return sum_of_output(other, data);
      };
      double difference = (moved(step) - moved(-step)) / (2 * step);
      EXPECT_NEAR(gradient[k], difference, 1e-6 * (1 + std::abs(difference))) << "element " << k;
    }
  }
}

TEST(Gradient, OfAResidualBlockInTraining) {
  Net net({3, 4, 6, 6});
  ValueId a = net.relu(
      net.norm("n1", net.conv("c1", net.x, {4, 4, 3, 3}, {{"pads", Shape{1, 1, 1, 1}}}), 4));
  ValueId b = net.norm(
      "n2", net.conv("c2", a, {4, 2, 3, 3}, {{"pads", Shape{1, 1, 1, 1}}, {"groups", 2L}}), 4);
  ValueId sum = net.relu(net.g.call("add", {b, net.x}));
  net.g.output(net.conv("c3", sum, {2, 4, 3, 3}, {{"strides", Shape{2, 2}}}));
  Graph graph = in_training(net.g.build());
  compare(graph, graph.outputs[0]);
}

TEST(Gradient, OfPartsAndWholes) {
  Net net({2, 4, 6, 6});
  // A part of the channels, of which the rest gets no gradient from here.
  ValueId part =
      net.g.call("slice", {net.x}, {{"starts", Shape{0, 1, 0, 0}}, {"sizes", Shape{2, 2, 6, 6}}});
  ValueId both = net.g.call("concat", {net.conv("c1", part, {3, 2, 1, 1}), net.x});
  ValueId picked = net.g.call("take", {both}, {{"axis", 1L}, {"indices", Shape{0, 0, 2, 5, 5, 6}}});
  ValueId pooled =
      net.g.call("max_pool", {picked},
                 {{"kernel", Shape{3, 3}}, {"strides", Shape{2, 2}}, {"pads", Shape{1, 1, 1, 1}}});
  ValueId mean =
      net.g.call("avg_pool", {pooled}, {{"kernel", Shape{2, 2}}, {"pads", Shape{0, 0, 1, 1}}});
  net.g.output(net.g.call("mul", {mean, mean}));
  Graph graph = net.g.build();
  compare(graph, graph.outputs[0]);
}

TEST(Gradient, OfTheLoss) {
  Net net({3, 2, 4, 4});
  ValueId pooled = net.g.call("global_pool", {net.conv("c", net.x, {5, 2, 3, 3})});
  net.g.output(net.g.call("reshape", {pooled}, {{"shape", Shape{3, 5}}}));
  Learning learning = with_loss(net.g.build());
  compare(learning.graph, learning.losses);
}

TEST(Gradient, IsNoneWhereNothingDepends) {
  Net net({1, 2, 4, 4});
  ValueId steps = net.g.call("floor", {net.x});
  net.g.output(steps);
  Graph graph = net.g.build();
  EXPECT_EQ(with_gradients(graph, graph.outputs[0], {graph.inputs[0]}).by[0], no_value);
}

TEST(Training, RefusesWhatIsNoClassifier) {
  Net net({1, 2, 4, 4});
  net.g.output(net.relu(net.x));
  EXPECT_THROW(with_loss(net.g.build()), UserError);
}

TEST(Training, FindsTheOutputOfClasses) {
  Graph bert = load_model("bert_tiny", {.batch = 2, .size = 4});
  EXPECT_EQ(bert.values[classes_of(bert)].name, "pooler_output");
  std::swap(bert.outputs[0], bert.outputs[1]);
  EXPECT_EQ(bert.values[classes_of(bert)].name, "pooler_output");
  bert.outputs.push_back(bert.outputs[0]);
  EXPECT_THROW(classes_of(bert), UserError);  // two of them
}

}  // namespace
}  // namespace lathe
