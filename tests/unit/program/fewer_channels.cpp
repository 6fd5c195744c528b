// Coupled channels that shrink together: the same values, where those that went were 0.
#include "program/fewer_channels.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "models/model.h"
#include "ops/op_graph.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// Returns half of the channels of every set that can be halved.
std::vector<FewerChannels> halves(const Graph& graph) {
  std::vector<FewerChannels> cuts;
  for (const ChannelSet& set : channel_sets(graph)) {
    bool can = !set.fixed && set.channels % (2 * set.multiple) == 0;
    if (can) cuts.push_back({set, set.channels / 2});
  }
  return cuts;
}

/// Sets to 0 what makes the channels that go: filters, scales and shifts, biases. What reads them
/// is as it was.
Graph silenced(Graph graph, const std::vector<FewerChannels>& cuts) {
  for (const auto& [set, left] : cuts) {
    for (const ChannelRange& m : set.members) {
      Value& value = graph.values[m.value];
      if (value.kind != Value::Kind::weight || m.dimension != 0) continue;
      long group = set.channels / set.multiple, kept = left / set.multiple;
      std::vector<double> numbers = value.data->reals();
      long row = value.data->count() / value.type.shape[0];
      for (long i = 0; i < m.count; ++i) {
        if (i % group < kept) continue;
        std::fill_n(numbers.begin() + (m.first + i) * row, row, 0.0);
      }
      value.data = Array::of_reals(Element::f32, value.type.shape, numbers);
    }
  }
  return graph;
}

long weights_of(const Graph& graph) {
  long sum = 0;
  for (const Value& value : graph.values) {
    if (value.kind == Value::Kind::weight) sum += count_of(value.type.shape);
  }
  return sum;
}

/// Compares a network in which half of the channels are 0 with the one that has the other half.
void expect_same(const Graph& network) {
  Graph before = initialised(network, 1);
  std::vector<FewerChannels> cuts = halves(before);
  ASSERT_FALSE(cuts.empty());
  before = silenced(std::move(before), cuts);
  Graph after = with_fewer(before, cuts);
  verify_types(after);
  EXPECT_LT(weights_of(after), weights_of(before) * 2 / 3);
  expect_same_outputs(before, after, 1e-4);
}

TEST(FewerChannels, OfNetworks) {
  for (const char* name : {"resnet20-cifar", "nasbench201:6111"}) {
    SCOPED_TRACE(name);
    expect_same(load_model(name, {.size = 8}));
  }
}

/// Convolutions in groups and depthwise, a residual add, a concatenation, a flattening.
Graph all_kinds() {
  GraphBuilder g("net");
  ValueId x = g.input("x", {Element::f32, {2, 4, 6, 6}});
  auto conv = [&](const std::string& name, ValueId from, long filters, long groups) {
    Shape shape{filters, g.shape(from)[1] / groups, 3, 3};
    return g.call("conv",
                  {from, g.weight(name + ".weight", shape, he_fan_out(shape, groups)),
                   g.weight(name + ".bias", {filters}, {Initial::Kind::normal, 1})},
                  {{"pads", Shape{1, 1, 1, 1}}, {"groups", groups}}, name);
  };
  ValueId a = g.call("relu", {conv("a", x, 8, 1)});
  ValueId sum = g.call("add", {conv("b", a, 8, 2), a});
  ValueId deep = g.call("relu", {conv("deep", sum, 8, 8)});
  ValueId both = g.call("concat", {deep, conv("c", x, 4, 1)}, {{"axis", 1L}});
  ValueId flat = g.call("reshape", {conv("d", both, 6, 1)}, {{"shape", Shape{2, 6 * 36}}});
  ValueId w = g.weight("fc.weight", {3, 6 * 36}, {Initial::Kind::normal, 1});
  g.output(g.call("fully_connected", {flat, w}, {}, "fc"));
  return g.build();
}

TEST(FewerChannels, OfAllKindsOfLayers) {
  Graph graph = all_kinds();
  expect_same(graph);
  Graph after = with_fewer(graph, halves(graph));
  auto shape = [&](const char* name) { return after.values[*find_value(after, name)].type.shape; };
  EXPECT_EQ(shape("a.weight"), (Shape{4, 4, 3, 3}));
  EXPECT_EQ(shape("b.weight"), (Shape{4, 2, 3, 3}));
  EXPECT_EQ(shape("deep.weight"), (Shape{4, 1, 3, 3}));
  EXPECT_EQ(shape("d.weight"), (Shape{3, 4 + 2, 3, 3}));
  EXPECT_EQ(shape("fc.weight"), (Shape{3, 3 * 36}));
}

TEST(FewerChannels, ThatOccurTwiceInAConcatenation) {
  GraphBuilder g("net");
  ValueId x = g.input("x", {Element::f32, {1, 4, 3, 3}});
  auto conv = [&](const std::string& name, ValueId from, long filters) {
    Shape shape{filters, g.shape(from)[1], 1, 1};
    return g.call("conv", {from, g.weight(name, shape, he_fan_out(shape))});
  };
  ValueId a = conv("a", x, 8), b = conv("b", x, 4);
  g.output(conv("c", g.call("concat", {a, b, a}, {{"axis", 1L}}), 3));
  expect_same(g.build());
}

TEST(FewerChannels, BeginAsALayerOfThatSize) {
  Graph graph = with_fewer(all_kinds(), halves(all_kinds()));
  for (const auto& [name, groups] :
       {std::pair("a", 1L), std::pair("b", 2L), std::pair("deep", 4L)}) {
    const Value& weight = graph.values[*find_value(graph, std::string(name) + ".weight")];
    EXPECT_DOUBLE_EQ(weight.initial.scale, he_fan_out(weight.type.shape, groups).scale) << name;
  }
}

TEST(FewerChannels, SayWhyNot) {
  Graph graph = all_kinds();
  auto message = [&](const ChannelSet& set, long left) -> std::string {
    try {
      with_fewer(graph, {{set, left}});
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  for (const ChannelSet& set : channel_sets(graph)) {
    if (set.fixed) {
      EXPECT_NE(message(set, set.channels / 2).find("reach an input or output"), std::string::npos);
    } else if (set.multiple == 2) {
      EXPECT_EQ(message(set, 3),
                "the 8 channels of 'a.weight' cannot become 3: they are in 2 groups somewhere");
    }
  }
}

}  // namespace
}  // namespace lathe::test
