// Diversity against its definition.
#include "base/error.h"
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

/// A network whose convolution makes one channel for each row of weights, of two channels.
Graph channels(const std::vector<float>& weights) {
  GraphBuilder g("net");
  auto count = static_cast<long>(weights.size() / 2);
  ValueId x = g.input("x", {Element::f32, {2, 2, 1, 2}});
  ValueId w = g.weight("w", Array::of<float>({count, 2, 1, 1}, weights), Value::Kind::weight);
  ValueId y = g.call("conv", {x, w, no_value}, {}, "conv");
  g.output(g.call("reshape", {g.call("global_pool", {y})}, {{"shape", Shape{2, count}}}));
  return g.build();
}

// The two channels vary alike and independently.
Batch independent() {
  return {Array::of<float>({2, 2, 1, 2}, {1, 1, 1, -1, -1, -1, 1, -1}), {0, 1}};
}

TEST(Diversity, CountsChannelsThatDiffer) {
  double two = scored("diversity", channels({1, 0, 0, 1}), independent()).total;
  EXPECT_NEAR(two, std::log(2), 1e-5);
  // Two channels of different variance are less than two: (4 + 1)^2 / (4^2 + 1^2).
  double uneven = scored("diversity", channels({2, 0, 0, 1}), independent()).total;
  EXPECT_NEAR(uneven, std::log(25. / 17), 1e-5);
}

TEST(Diversity, RepeatedChannelsCountOnce) {
  Score repeated =
      scored("diversity", channels({1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1}), independent());
  EXPECT_NEAR(repeated.total, std::log(2), 1e-5);
  ASSERT_EQ(repeated.layers.size(), 1u);
  EXPECT_EQ(repeated.layers[0].layer, "conv");
  EXPECT_NEAR(scored("diversity", channels({1, 1, 1, 1}), independent()).total, 0, 1e-5);
}

TEST(Diversity, NeedsConvolutions) {
  GraphBuilder g("net");
  g.output(g.call("tanh", {g.input("x", {Element::f32, {2, 3}})}));
  Batch batch{Array(Element::f32, {2, 3}), {0, 1}};
  EXPECT_THROW(scored("diversity", g.build(), batch), UserError);
}

}  // namespace
}  // namespace lathe::test
