// Networks between two networks.
#include "search/interpolation.h"

#include <gtest/gtest.h>

#include "models/model.h"
#include "program/layers.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

const Recipe two = parse_recipe("group(2)"), four = parse_recipe("group(4)");

long macs_of(const Graph& graph) {
  long sum = 0;
  for (const Layer& layer : layers_of(graph)) sum += layer.cost.macs;
  return sum;
}

TEST(Interpolation, PartsHaveTheirOwnSteps) {
  EXPECT_EQ(print(of_parts(two, four, 16)),
            "split_range(co, 16) -> group(2) -> interchange(co.0, co.1) -> group(4)");
  EXPECT_EQ(print(of_parts(two, {}, 16)), "split_range(co, 16) -> group(2)");
  EXPECT_EQ(print(of_parts({}, parse_recipe("interchange(co, ci) -> bottleneck(2)"), 8)),
            "split_range(co, 8) -> interchange(co.0, co.1) -> interchange(co.1, ci) -> "
            "bottleneck(2)");
}

TEST(Interpolation, LeadsFromOneToTheOther) {
  Graph network = load_model("resnet20-cifar", {.size = 8});
  std::vector<Between> row =
      interpolated(network, two, four, {.layers = "layer*conv?", .points = 6});
  ASSERT_EQ(row.size(), 8u);
  std::vector<long> macs;
  for (const Between& model : row) macs.push_back(macs_of(transformed(network, model.recipe)));
  EXPECT_EQ(row[0].way, Between::Way::end);
  EXPECT_EQ(row[1].part, 1);
  for (size_t i = 2; i < row.size(); ++i) {
    EXPECT_EQ(row[i].way, i < 5 ? Between::Way::filters : Between::Way::layers);
    EXPECT_LT(macs[i], macs[0]) << i;
    EXPECT_GT(macs[i], macs[1]) << i;
    bool goes_on = i == 2 || i == 5 || macs[i] < macs[i - 1];
    EXPECT_TRUE(goes_on) << i;
  }
}

TEST(Interpolation, DenseIsAnEndToo) {
  Graph network = load_model("resnet20-cifar", {.size = 8});
  std::vector<Between> row = interpolated(network, {}, two, {.layers = "layer3.*", .points = 2});
  EXPECT_TRUE(row[0].recipe.empty());
  EXPECT_EQ(macs_of(transformed(network, row[0].recipe)), macs_of(network));
  EXPECT_EQ(row.size(), 4u);
}

TEST(Interpolation, NeedsALayerThatBothApplyTo) {
  Graph network = load_model("resnet20-cifar", {.size = 8});
  expect_failure([&] { interpolated(network, two, parse_recipe("group(7)"), {}); },
                 {"both recipes apply"});
}

}  // namespace
}  // namespace lathe::test
