// Channels in another order: networks compute the same, and what fixes an order is said.
#include "program/channel_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "base/error.h"
#include "models/model.h"
#include "ops/op_graph.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// Are these positions? Where a window covers all rows, they are coupled with the rows of a kernel.
bool are_positions(const Graph& graph, const ChannelSet& set) {
  return std::any_of(set.members.begin(), set.members.end(), [&](const ChannelRange& m) {
    return graph.values[m.value].kind == Value::Kind::weight && m.dimension > 1;
  });
}

/// Draws an order of every set that is free. Channels that are in groups stay in equal blocks.
std::vector<ChannelOrder> random_orders(const Graph& graph) {
  std::mt19937 random(5);
  std::vector<ChannelOrder> orders;
  for (const ChannelSet& set : channel_sets(graph)) {
    if (set.fixed || are_positions(graph, set)) continue;
    std::vector<long> order(static_cast<size_t>(set.channels));
    std::iota(order.begin(), order.end(), 0L);
    long block = set.channels / set.multiple;
    for (auto at = order.begin(); at != order.end(); at += block) {
      std::shuffle(at, at + block, random);
    }
    orders.push_back({set, order});
  }
  return orders;
}

TEST(ChannelOrder, OfNetworks) {
  for (const char* name : {"resnet20-cifar", "mobilenet_v2-cifar", "resnext29_2x64d"}) {
    SCOPED_TRACE(name);
    Graph before = initialised(load_model(name, {.size = 8}), 1);
    std::vector<ChannelOrder> orders = random_orders(before);
    ASSERT_FALSE(orders.empty());
    Graph after = with_order(before, orders);
    size_t moved = 0;
    for (ValueId id = 0; id < before.values.size(); ++id) {
      moved += after.values[id].data != before.values[id].data ? 1 : 0;
    }
    EXPECT_GT(moved, orders.size());
    expect_same_outputs(before, after, 1e-4);
  }
}

std::string error_of(const Graph& graph, const std::vector<ChannelOrder>& orders) {
  try {
    with_order(graph, orders);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

/// Returns the free set of so many channels.
ChannelSet set_of(const Graph& graph, long channels) {
  for (const ChannelSet& set : channel_sets(graph)) {
    if (set.channels == channels) return set;
  }
  throw std::runtime_error("no such set");
}

Graph graph_of(const std::string& lines) {
  return initialised(parse_graph("graph small\ninput x: f32[1x3x4x4]\n"
                                 "weight a.weight: f32[6x3x1x1] = normal(0.5)\n"
                                 "a = conv(x, a.weight): f32[1x6x4x4]\n" +
                                 lines),
                     1);
}

TEST(ChannelOrder, NamesEachChannelOnce) {
  Graph graph = graph_of(
      "weight b.weight: f32[2x6x1x1] = normal(0.5)\n"
      "b = conv(a, b.weight): f32[1x2x4x4]\noutput b\n");
  ChannelSet set = set_of(graph, 6);
  std::string expected =
      "an order of the 6 channels of 'a.weight' names each of them once, from 0 to 5";
  EXPECT_EQ(error_of(graph, {{set, {0, 1, 2, 3, 4, 4}}}), expected);
  EXPECT_EQ(error_of(graph, {{set, {0, 1, 2, 3, 4}}}), expected);
  EXPECT_EQ(error_of(graph, {{set, {5, 4, 3, 2, 1, 0}}}), "no error");
}

TEST(ChannelOrder, SharedWeightsAreInOneOrder) {
  Graph graph = graph_of(
      "weight b.weight: f32[6x3x1x1] = normal(0.5)\n"
      "weight c.weight: f32[2x6x1x1] = normal(0.5)\n"
      "b = conv(x, b.weight): f32[1x6x4x4]\n"
      "c = conv(a, c.weight): f32[1x2x4x4]\n"
      "d = conv(b, c.weight): f32[1x2x4x4]\noutput c\noutput d\n");
  // What reads both couples them.
  ChannelSet set = set_of(graph, 6);
  Graph after = with_order(graph, {{set, {1, 0, 5, 2, 3, 4}}});
  expect_same_outputs(graph, after);
  EXPECT_NE(after.values[*find_value(after, "b.weight")].data,
            graph.values[*find_value(graph, "b.weight")].data);
}

TEST(ChannelOrder, GroupsThatShareWeightsStayAlike) {
  Graph graph = graph_of(
      "weight b.weight: f32[6x3x1x1] = normal(0.5)\n"
      "weight c.weight: f32[4x3x1x1] = normal(0.5)\n"
      "b = conv(x, b.weight): f32[1x6x4x4]\n"
      "c = conv(a, c.weight, groups=2): f32[1x4x4x4]\n"
      "d = conv(b, c.weight, groups=2): f32[1x4x4x4]\noutput c\noutput d\n");
  ChannelSet set = set_of(graph, 6);
  EXPECT_EQ(error_of(graph, {{set, {1, 0, 2, 3, 4, 5}}}),
            "'c' and 'd' share 'c.weight', and would need it in different orders");
}

TEST(ChannelOrder, OfSlicesWithSteps) {
  Graph graph = graph_of(
      "weight b.weight: f32[2x3x1x1] = normal(0.5)\n"
      "weight c.weight: f32[2x3x1x1] = normal(0.5)\n"
      "even = slice(a, starts=[0, 0, 0, 0], sizes=[1, 3, 4, 4], steps=[1, 2, 1, 1]): f32[1x3x4x4]\n"
      "odd = slice(a, starts=[0, 1, 0, 0], sizes=[1, 3, 4, 4], steps=[1, 2, 1, 1]): f32[1x3x4x4]\n"
      "b = conv(even, b.weight): f32[1x2x4x4]\n"
      "c = conv(odd, c.weight): f32[1x2x4x4]\noutput b\noutput c\n");
  std::vector<ChannelSet> sets = channel_sets(graph);
  ValueId weight = *find_value(graph, "a.weight");
  Graph after = with_order(graph, orders_of_filters(graph, sets, weight, {4, 1, 0, 5, 2, 3}));
  EXPECT_NE(after.values[weight].data, graph.values[weight].data);
  expect_same_outputs(graph, after);
  try {
    orders_of_filters(graph, sets, weight, {1, 0, 2, 3, 4, 5});
    FAIL() << "filters of two layers changed places";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "filter 1 of 'a.weight' cannot take the place of filter 0: other layers treat "
                 "them differently");
  }
}

TEST(ChannelOrder, IsRefusedWhereChannelsFollowEachOther) {
  Graph graph = graph_of(
      "weight b.weight: f32[2x6x1x1] = normal(0.5)\n"
      "b = conv(a, b.weight): f32[1x2x4x4]\n"
      "sums = cumsum(a, axis=1): f32[1x6x4x4]\noutput b\noutput sums\n");
  std::string error = error_of(graph, {{set_of(graph, 6), {1, 0, 2, 3, 4, 5}}});
  EXPECT_NE(error.find("'sums' never brings together channel 1 of 'a'"), std::string::npos)
      << error;
}

}  // namespace
}  // namespace lathe::test
