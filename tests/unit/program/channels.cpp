// Coupled channels: what the nests of a network say about which tensors change together.
#include "program/channels.h"

#include <gtest/gtest.h>

#include "models/model.h"
#include "ops/op_graph.h"

namespace lathe::test {
namespace {

/// Prints a set's weights: "conv.weight[0]" if all filters are in it, "fc.weight[1:0+8]" if some.
std::string weights_of(const Graph& graph, const ChannelSet& set) {
  std::string text;
  for (const ChannelRange& m : set.members) {
    const Value& value = graph.values[m.value];
    if (value.kind != Value::Kind::weight || value.type.shape.size() < 2) continue;
    text += (text.empty() ? "" : " ") + fmt::format("{}[{}", value.name, m.dimension);
    bool all = m.count == value.type.shape[m.dimension];
    text += all ? "]" : fmt::format(":{}+{}]", m.first, m.count);
  }
  return text;
}

/// A network written down quickly: convolutions of 3x3, x is 1x4x8x8.
class Net {
 public:
  GraphBuilder g{"net"};
  ValueId x = g.input("x", {Element::f32, {1, 4, 8, 8}});

  ValueId conv(const std::string& name, ValueId from, long filters, long groups = 1) {
    Shape shape{filters, g.shape(from)[1] / groups, 3, 3};
    ValueId w = g.weight(name, shape, he_fan_out(shape, groups));
    return g.call("conv", {from, w}, {{"pads", Shape{1, 1, 1, 1}}, {"groups", groups}});
  }
  ValueId connected(const std::string& name, ValueId from, long outputs) {
    ValueId w = g.weight(name, {outputs, g.shape(from)[1]}, {Initial::Kind::zeros});
    return g.call("fully_connected", {from, w});
  }
  std::vector<std::string> sets(ValueId output) {
    g.output(output);
    Graph graph = g.build();
    std::vector<std::string> result;
    for (const ChannelSet& set : channel_sets(graph)) {
      result.push_back(fmt::format("{}/{}{}: {}", set.channels, set.multiple,
                                   set.fixed ? " fixed" : "", weights_of(graph, set)));
    }
    return result;
  }
};

using Lines = std::vector<std::string>;

TEST(Channels, AConvolutionHasTwoSides) {
  Net n;
  EXPECT_EQ(n.sets(n.conv("b", n.g.call("relu", {n.conv("a", n.x, 6)}), 5)),
            (Lines{"4/1 fixed: a[1]", "6/1: a[0] b[1]", "5/1 fixed: b[0]"}));
}

TEST(Channels, ResidualAddsTieBothSides) {
  Net n;
  ValueId a = n.conv("a", n.x, 6);
  ValueId sum = n.g.call("add", {n.conv("b", a, 6), a});
  EXPECT_EQ(n.sets(n.conv("c", sum, 5)),
            (Lines{"4/1 fixed: a[1]", "6/1: a[0] b[0] b[1] c[1]", "5/1 fixed: c[0]"}));
}

TEST(Channels, ConcatenationKeepsThePartsApart) {
  Net n;
  ValueId both = n.g.call("concat", {n.conv("a", n.x, 6), n.conv("b", n.x, 2)}, {{"axis", 1L}});
  EXPECT_EQ(n.sets(n.conv("c", both, 5)), (Lines{"4/1 fixed: a[1] b[1]", "6/1: a[0] c[1:0+6]",
                                                 "2/1: b[0] c[1:6+2]", "5/1 fixed: c[0]"}));
}

TEST(Channels, GroupsStayDivisible) {
  Net n;
  EXPECT_EQ(n.sets(n.conv("c", n.conv("b", n.conv("a", n.x, 6), 9, 3), 5)),
            (Lines{"4/1 fixed: a[1]", "6/3: a[0] b[1]", "9/3: b[0] c[1]", "5/1 fixed: c[0]"}));
}

TEST(Channels, DepthwiseConvolutionsPassThemThrough) {
  Net n;
  EXPECT_EQ(n.sets(n.conv("c", n.conv("b", n.conv("a", n.x, 6), 6, 6), 5)),
            (Lines{"4/1 fixed: a[1]", "6/1: a[0] b[0] c[1]", "5/1 fixed: c[0]"}));
}

TEST(Channels, FlattenedChannelsAreSeveralColumns) {
  Net n;
  ValueId flat = n.g.call("reshape", {n.conv("a", n.x, 6)}, {{"shape", Shape{1, 6 * 64}}});
  n.g.output(n.connected("fc", flat, 3));
  Graph graph = n.g.build();
  for (const ChannelSet& set : channel_sets(graph)) {
    if (set.channels != 6) continue;
    EXPECT_EQ(weights_of(graph, set), "a[0] fc[1]");
    for (const ChannelRange& m : set.members) {
      if (graph.values[m.value].name != "fc") continue;
      EXPECT_EQ(m.count, 6 * 64);
    }
  }
}

TEST(Channels, OfBuiltInNetworks) {
  for (const char* name : {"resnet18-cifar", "densenet121-cifar", "mobilenet_v2", "resnext29_2x64d",
                           "vgg11", "nasbench201:6111"}) {
    SCOPED_TRACE(name);
    Graph graph = load_model(name);
    std::vector<ChannelSet> sets = channel_sets(graph);
    EXPECT_FALSE(sets.empty());
    for (const ChannelSet& set : sets) {
      EXPECT_EQ(set.channels % set.multiple, 0) << weights_of(graph, set);
      EXPECT_GE(set.members.size(), 2u);
    }
  }
}

}  // namespace
}  // namespace lathe::test
