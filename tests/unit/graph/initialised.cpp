// initialised(): the numbers that untrained weights begin with, the same on every machine.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "ops/op_graph.h"

namespace lathe::test {
namespace {

Graph with(const Type& type, const Initial& initial, const std::string& name = "w") {
  Graph graph;
  graph.name = "g";
  graph.values = {{name, Value::Kind::weight, type, std::nullopt, initial}};
  graph.outputs = {0};
  return graph;
}

std::vector<double> drawn(const Graph& graph, uint64_t seed) {
  return initialised(graph, seed).values[0].data->reals();
}

TEST(Initialised, TheSeedAndTheNameDecide) {
  Type type{Element::f32, {64}};
  Initial normal{Initial::Kind::normal, 1};
  Graph graph = with(type, normal);
  EXPECT_EQ(drawn(graph, 1), drawn(graph, 1));
  EXPECT_NE(drawn(graph, 1), drawn(graph, 2));
  EXPECT_NE(drawn(graph, 1), drawn(with(type, normal, "v"), 1));
}

TEST(Initialised, OtherValuesDoNotMatter) {
  Initial normal{Initial::Kind::normal, 1};
  Graph graph = with({Element::f32, {8}}, normal);
  std::vector<double> alone = drawn(graph, 3);
  graph.values.insert(graph.values.begin(),
                      {"first", Value::Kind::weight, {Element::f32, {9}}, std::nullopt, normal});
  EXPECT_EQ(initialised(graph, 3).values[1].data->reals(), alone);
}

TEST(Initialised, ZerosOnesAndNothing) {
  Type type{Element::f16, {3}};
  EXPECT_EQ(drawn(with(type, {Initial::Kind::zeros}), 1), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(drawn(with(type, {Initial::Kind::ones}), 1), (std::vector<double>{1, 1, 1}));
  EXPECT_FALSE(initialised(with(type, {}), 1).values[0].data.has_value());
}

TEST(Initialised, DataStay) {
  Graph graph = with({Element::f32, {2}}, {Initial::Kind::ones});
  graph.values[0].data = Array::of<float>({2}, {5, 6});
  EXPECT_EQ(drawn(graph, 1), (std::vector<double>{5, 6}));
}

TEST(Initialised, HeWeightsHaveTheirMeanAndDeviation) {
  Shape shape{64, 32, 3, 3};
  Initial he = he_fan_out(shape);
  EXPECT_DOUBLE_EQ(he.scale, std::sqrt(2.0 / (64 * 9)));
  EXPECT_DOUBLE_EQ(he_fan_out(shape, 4).scale, std::sqrt(2.0 / (64 * 9 / 4)));
  std::vector<double> values = drawn(with({Element::f32, shape}, he), 11);
  auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double x : values) {
    sum += x;
    squares += x * x;
  }
  // Five deviations of the two estimates.
  EXPECT_NEAR(sum / count, 0, 5 * he.scale / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), he.scale, 5 * he.scale / std::sqrt(2 * count));
}

TEST(Initialised, UniformWeightsStayInBounds) {
  std::vector<double> values =
      drawn(with({Element::f64, {4096}}, {Initial::Kind::uniform, 0.25}), 5);
  double least = 1, most = -1, sum = 0;
  for (double x : values) {
    least = std::min(least, x);
    most = std::max(most, x);
    sum += x;
  }
  EXPECT_GE(least, -0.25);
  EXPECT_LT(most, 0.25);
  EXPECT_LT(least, -0.249);
  EXPECT_GT(most, 0.249);
  EXPECT_NEAR(sum / 4096, 0, 5 * 0.25 / std::sqrt(3.0 * 4096));
}

TEST(Initialised, EveryMachineDrawsTheSameBits) {
  auto hash = [](Initial initial) {
    Graph graph = initialised(with({Element::f64, {256}}, initial), 2021);
    auto bytes = graph.values[0].data->bytes();
    uint64_t of = hash_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return fmt::format("{:016x}", of);
  };
  EXPECT_EQ(hash({Initial::Kind::normal, 0.1}), "875dac2e239c437a");
  EXPECT_EQ(hash({Initial::Kind::uniform, 0.1}), "47fe6259bfdd0784");
}

}  // namespace
}  // namespace lathe::test
