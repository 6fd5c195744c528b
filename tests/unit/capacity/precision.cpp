// Networks whose layers have different precisions: capacity/precision.h.
#include "capacity/precision.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "compile/executor.h"
#include "passes/pass.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// Three layers with a stream around the second.
Graph three_layers() {
  return initialised(parse_graph("graph g\n"
                                 "input x: f32[1x3x8x8]\n"
                                 "weight u: f32[8x3x3x3] = normal(0.3)\n"
                                 "weight v: f32[8x8x3x3] = normal(0.2)\n"
                                 "weight w: f32[4x8x1x1] = normal(0.3)\n"
                                 "first = conv(x, u, pads=[1,1,1,1]): f32[1x8x8x8]\n"
                                 "a = relu(first): f32[1x8x8x8]\n"
                                 "second = conv(a, v, pads=[1,1,1,1]): f32[1x8x8x8]\n"
                                 "b = add(second, a): f32[1x8x8x8]\n"
                                 "c = relu(b): f32[1x8x8x8]\n"
                                 "third = conv(c, w): f32[1x4x8x8]\n"
                                 "output third\n"),
                     7);
}

std::vector<lathe::Array> samples(uint64_t seed) {
  lathe::Random random(seed, "samples");
  std::vector<double> pixels;
  for (int i = 0; i < 3 * 8 * 8; ++i) pixels.push_back(random.normal());
  return {lathe::Array::of_reals(Element::f32, {1, 3, 8, 8}, pixels)};
}

QuantiseOptions options() {
  QuantiseOptions how;
  how.watch.target = native_target();
  return how;
}

std::vector<double> outputs_of(const Graph& graph, const std::vector<lathe::Array>& inputs) {
  return Executor(graph, {.target = native_target()}).run(inputs)[0].reals();
}

size_t count(const Graph& graph, const std::string& op) {
  return static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                           [&](const Node& node) { return node.op == op; }));
}

TEST(Narrowed, EachLayerHasItsOwnPrecision) {
  Graph network = three_layers();
  const Precision all[] = {Precision::f32, Precision::f16, Precision::int8};
  std::vector<lathe::Array> data = samples(1);
  std::vector<double> wanted = outputs_of(network, data);
  double squares = 0;
  for (double x : wanted) squares += x * x;
  for (Precision first : all) {
    for (Precision second : all) {
      for (Precision third : all) {
        LayerPrecisions of{{{"first", first}, {"second", second}, {"third", third}}};
        SCOPED_TRACE(fmt::format("{} {} {}", name_of(first), name_of(second), name_of(third)));
        Narrowed found = narrowed(network, of, data, options());
        EXPECT_TRUE(found.kept.empty());
        std::vector<double> is = outputs_of(found.network, data);
        ASSERT_EQ(is.size(), wanted.size());
        double errors = 0;
        for (size_t i = 0; i < is.size(); ++i) errors += (is[i] - wanted[i]) * (is[i] - wanted[i]);
        // Three layers of 8 bits: each loses about a hundredth.
        EXPECT_LT(std::sqrt(errors / squares), 0.05);
        bool has_integers =
            first == Precision::int8 || second == Precision::int8 || third == Precision::int8;
        EXPECT_EQ(count(found.network, "quantize") > 0, has_integers);
        // What the compiler makes of it multiplies integers where that was asked for, and only
        // there.
        Graph ready = after_passes(found.network, {"FakeQuantizationToInteger"});
        size_t integers = 0, wanted_integers = 0;
        for (const Node& node : ready.nodes) {
          if (node.op != "conv") continue;
          Element element = ready.values[node.inputs[1]].type.element;
          integers += element == Element::i8 ? 1 : 0;
        }
        for (Precision each : {first, second, third}) {
          wanted_integers += each == Precision::int8 ? 1 : 0;
        }
        EXPECT_EQ(integers, wanted_integers) << print_nodes(ready);
        bool is_plain = of.are_all(Precision::f32);
        EXPECT_EQ(print_nodes(found.network) == print_nodes(network), is_plain);
      }
    }
  }
}

TEST(Narrowed, IsTimedWithoutData) {
  Graph network = three_layers();
  LayerPrecisions of{{{"first", Precision::f16}, {"second", Precision::int8}}};
  QuantiseOptions how = options();
  how.timed = true;
  Graph timed = narrowed(network, of, {}, how).network;
  Graph made = narrowed(network, of, samples(1), options()).network;
  EXPECT_EQ(print_nodes(timed), print_nodes(made)) << "only the scales differ";
}

}  // namespace
}  // namespace lathe::test
