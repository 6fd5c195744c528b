// Networks on 8-bit integers: capacity/value_ranges.h and capacity/quantised.h.
#include "capacity/quantised.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"
#include "compile/executor.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// Returns how often numbers were seen, each in a part of its own.
Seen seen_of(double least, double greatest, const std::vector<double>& counts) {
  return {true, least, greatest, counts};
}

TEST(IntegersFor, SpreadOverAllThatWasSeen) {
  Integers how = integers_for(seen_of(0, 255, std::vector<double>(2048, 1)), Clipping::minmax);
  EXPECT_EQ(how.scale, 1);
  EXPECT_EQ(how.zero, -128);
  how =
      integers_for(seen_of(-1, 1, std::vector<double>(2048, 1)), Clipping::minmax, ZeroPoint::none);
  EXPECT_FLOAT_EQ(static_cast<float>(how.scale), 1.0F / 127);
  EXPECT_EQ(how.zero, 0);
}

TEST(IntegersFor, LeaveOutWhatIsRare) {
  std::vector<double> counts(2048, 0);
  for (size_t i = 0; i < 64; ++i) counts[i] = 1e6;
  counts.back() = 1;
  Seen seen = seen_of(0, 32, counts);
  EXPECT_NEAR(integers_for(seen, Clipping::minmax).scale, 32.0 / 255, 1e-6);
  EXPECT_NEAR(integers_for(seen, Clipping::percentile).scale, 1.0 / 255, 1e-4);
  EXPECT_LT(integers_for(seen, Clipping::mse).scale, 16.0 / 255);
}

TEST(IntegersFor, NearlyAllAreZero) {
  std::vector<double> counts(2048, 0);
  counts.front() = 1e9;
  counts.back() = 1;
  EXPECT_GT(integers_for(seen_of(0, 8, counts), Clipping::percentile).scale, 0);
}

TEST(ScaleOfWeights, HoldsTheLargest) {
  EXPECT_FLOAT_EQ(
      static_cast<float>(scale_of_weights(std::vector<double>{-254, 3}, Clipping::minmax)), 2);
  EXPECT_EQ(scale_of_weights(std::vector<double>{0, 0}, Clipping::mse), 1);
}

constexpr const char* network =
    "graph g\n"
    "input x: f32[1x3x8x8]\n"
    "weight w: f32[8x3x3x3] = normal(0.4)\n"
    "weight b: f32[8] = normal(0.4)\n"
    "weight v: f32[8x8x3x3] = normal(0.2)\n"
    "weight u: f32[5x8] = normal(0.5)\n"
    "c = conv(x, w, b, pads=[1, 1, 1, 1]): f32[1x8x8x8]\n"
    "r = relu(c): f32[1x8x8x8]\n"
    "d = conv(r, v, pads=[1, 1, 1, 1]): f32[1x8x8x8]\n"
    "a = add(d, r): f32[1x8x8x8]\n"
    "s = relu(a): f32[1x8x8x8]\n"
    "p = global_pool(s): f32[1x8x1x1]\n"
    "f = reshape(p, shape=[1, 8]): f32[1x8]\n"
    "y = fully_connected(f, u): f32[1x5]\n"
    "output y\n";

Graph example() { return initialised(parse_graph(network), 3); }

std::vector<lathe::Array> samples(const Shape& shape, double factor = 1) {
  std::vector<lathe::Array> minibatches;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    Random random(seed);
    std::vector<double> numbers;
    for (long i = 0; i < count_of(shape); ++i) numbers.push_back(factor * random.normal());
    minibatches.push_back(lathe::Array::of_reals(Element::f32, shape, numbers));
  }
  return minibatches;
}

/// Returns how networks are quantised that run on this machine.
QuantiseOptions here(Clipping clipping = QuantiseOptions().clipping) {
  QuantiseOptions options;
  options.clipping = clipping;
  options.watch.target = native_target();
  return options;
}

TEST(Quantised, ComputesNearlyTheSame) {
  std::vector<lathe::Array> minibatches = samples({4, 3, 8, 8});
  for (Clipping clipping : {Clipping::minmax, Clipping::percentile, Clipping::mse}) {
    Quantised found = quantised(example(), minibatches, here(clipping));
    ASSERT_EQ(found.layers.size(), 3U);
    for (const QuantisedLayer& layer : found.layers) {
      EXPECT_EQ(layer.kept, "");
      ASSERT_TRUE(layer.error.has_value());
      EXPECT_LT(*layer.error, 0.05) << layer.layer;
      EXPECT_GT(*layer.error, 0) << layer.layer;
    }
  }
}

/// Each layer is one kernel that reads and writes 8-bit integers.
TEST(Quantised, NothingElseIsStoredBetweenLayers) {
  Quantised found = quantised(example(), samples({4, 3, 8, 8}), here());
  Graph ready = after_passes(found.network, usual_passes(Pass::Stage::graph));
  for (const Node& node : ready.nodes) {
    const Value& output = ready.values[node.outputs[0]];
    EXPECT_EQ(name_of(output.type.element), std::string(output.name == "y" ? "f32" : "i8"))
        << print_nodes(ready);
  }
}

TEST(Quantised, LayersOfWhatIsNoNumberOrAlwaysZeroStay) {
  Graph graph = example();
  graph.values[*find_value(graph, "v")].data = lathe::Array::of_reals(
      Element::f32, {8, 8, 3, 3},
      std::vector<double>(8 * 8 * 9, std::numeric_limits<double>::infinity()));
  Quantised found = quantised(graph, samples({4, 3, 8, 8}), here());
  EXPECT_EQ(found.layers[0].kept, "");
  EXPECT_EQ(found.layers[1].kept, "'v' is not always a finite number");
  EXPECT_EQ(found.layers[2].kept, "'p' is not always a finite number");
  Quantised dark = quantised(example(), samples({4, 3, 8, 8}, 0), here());
  EXPECT_EQ(dark.layers[0].kept, "'x' is always 0");
}

TEST(Quantised, RefusesWhatHasIntegers) {
  Quantised found = quantised(example(), samples({4, 3, 8, 8}), here());
  EXPECT_THROW(quantised(found.network, samples({4, 3, 8, 8}), here()), UserError);
  EXPECT_THROW(quantised(example(), {}, here()), UserError);
}

}  // namespace
}  // namespace lathe::test
