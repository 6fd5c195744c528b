// FirstOrderGradient: gradients as further outputs.
#include "support/interpreted.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

Graph small() {
  return initialised(parse_graph("graph g\n"
                                 "input x: f32[2x3]\n"
                                 "input i: i64[2]\n"
                                 "weight w: f32[4x3] = normal(1.0)\n"
                                 "weight unused: f32[2] = normal(1.0)\n"
                                 "h = fully_connected(x, w): f32[2x4]\n"
                                 "y = tanh(h): f32[2x4]\n"
                                 "z = mul(x, x): f32[2x3]\n"
                                 "output y\noutput z\n"),
                     1);
}

std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> names;
  for (ValueId id : graph.outputs) names.push_back(graph.values[id].name);
  return names;
}

double total(const Graph& graph, const std::vector<lathe::Array>& inputs) {
  double sum = 0;
  for (const lathe::Array& output : interpreted(graph, inputs)) {
    for (double x : output.reals()) sum += x;
  }
  return sum;
}

TEST(FirstOrderGradient, AddsOutputs) {
  Graph after = after_passes(small(), {"FirstOrderGradient"});
  EXPECT_EQ(output_names(after), (std::vector<std::string>{"y", "z", "x.gradient", "w.gradient"}));
  EXPECT_TRUE(find_pass("FirstOrderGradient").adds_outputs);
}

TEST(FirstOrderGradient, EqualsDifferences) {
  Graph graph = small();
  std::vector<lathe::Array> inputs = random_inputs(graph);
  std::vector<lathe::Array> outputs =
      Executor(after_passes(graph, {"FirstOrderGradient"}), {.target = native_target()})
          .run(inputs);
  std::vector<double> gradient = outputs[2].reals(), x = inputs[0].reals();
  constexpr double step = 1e-2;
  for (size_t i = 0; i < x.size(); ++i) {
    auto moved = [&](double by) {
      std::vector<double> values = x;
      values[i] += by;
      return total(graph, {lathe::Array::of_reals(Element::f32, {2, 3}, values), inputs[1]});
    };
    EXPECT_NEAR(gradient[i], (moved(step) - moved(-step)) / (2 * step), 2e-2) << "element " << i;
  }
}

TEST(FirstOrderGradient, IsNoneOfTheRewritesToChooseFrom) {
  EXPECT_FALSE(is_rewrite(find_pass("FirstOrderGradient")));
  Graph graph = parse_graph("graph g\ninput i: i64[2]\ny = neg(i): i64[2]\noutput y\n");
  EXPECT_THROW(after_passes(graph, {"FirstOrderGradient"}), UserError);
}

}  // namespace
}  // namespace lathe::test
