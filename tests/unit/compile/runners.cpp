// Networks that are compiled once and run with other weights.
#include "compile/runners.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "graph/text.h"
#include "support/temporary.h"

namespace lathe {
namespace {

/// Convolutions whose weights lie as they are, are packed, and are transformed (the last, by
/// Winograd); one weight has two readers.
Graph network() {
  return parse_graph(
      "graph network\n"
      "input x: f32[1x16x12x12]\n"
      "weight w: f32[32x16x3x3] = normal(0.3)\n"
      "weight b: f32[32] = normal(0.3)\n"
      "weight v: f32[32x32x3x3] = normal(0.3)\n"
      "c = conv(x, w, b, pads=[1, 1, 1, 1], strides=[2, 2]): f32[1x32x6x6]\n"
      "d = conv(c, v, pads=[1, 1, 1, 1]): f32[1x32x6x6]\n"
      "e = conv(d, v, pads=[1, 1, 1, 1]): f32[1x32x6x6]\n"
      "output e\n");
}

Array image() {
  Random random(3);
  std::vector<double> values(16 * 12 * 12);
  for (double& value : values) value = random.normal();
  return Array::of_reals(Element::f32, {1, 16, 12, 12}, values);
}

TEST(Runners, RunWithTheWeightsOfEachGraph) {
  CompileOptions options;
  options.target = native_target();
  Runners runners(options, 1);
  const Runner* first = &runners.of(initialised(network(), 1));
  for (uint64_t seed : {2, 3, 1}) {
    Graph graph = initialised(network(), seed);
    Runner& runner = runners.of(graph);
    EXPECT_EQ(&runner, first);
    EXPECT_EQ(runner.run({image()}), Runner(compile(graph, options), 1).run({image()}));
  }
}

TEST(Runners, TellNetworksApart) {
  Runners runners({.target = native_target()}, 1);
  Graph graph = initialised(network(), 1), other = graph;
  other.nodes[2].inputs[0] = other.nodes[0].outputs[0];
  EXPECT_NE(&runners.of(graph), &runners.of(other));
}

TEST(Runners, NeedTheWeightsThatWereCompiled) {
  Graph graph = initialised(network(), 1);
  Compiled compiled = compile(network(), {.target = native_target(), .weights = WeightData::later});
  test::expect_failure([&] { Runner runner(compiled, 1); }, {"has no data"});
  Graph other = graph;
  other.values[*find_value(other, "b")].type.element = Element::f64;
  test::expect_failure([&] { Runner(compiled, 1, other); }, {"compiled for f32[32]"});
}

}  // namespace
}  // namespace lathe
