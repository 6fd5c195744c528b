// Layers that neural steps changed, written in standard operators: the same values as the nest's.
#include "program/lift.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "legality/legality.h"
#include "nest/text.h"
#include "onnx/onnx.h"
#include "support/lifted_layer.h"

namespace lathe::test {
namespace {

/// Compares the changed nest with the graph that it becomes.
Graph expect_same(const std::string& text, const std::string& recipe) {
  SCOPED_TRACE(text + "  " + recipe);
  Context context;
  Graph graph = one_layer(text);
  Nest nest = replay(nest_of(context, call_of(graph, graph.nodes.front())), parse_recipe(recipe));
  graph = with_added_weights(graph, nest);
  Graph lifted = with_nest(graph, 0, nest);
  verify_types(lifted);

  expect_lifted_computes(graph, nest, lifted);
  Array x = random_array(graph.values[graph.inputs.front()].type.shape);
  Graph again = parse_onnx(export_onnx(lifted), "exported", ".");
  EXPECT_EQ(structural_hash(again), structural_hash(lifted));
  EXPECT_EQ(Executor(again, {.target = native_target()}).run({x}).front().reals(),
            Executor(lifted, {.target = native_target()}).run({x}).front().reals());
  return lifted;
}

bool has_node(const Graph& graph, const std::string& op) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return node.op == op; });
}

constexpr const char* plain = "conv(f32[1x8x6x6], f32[8x8x3x3], pads=[1, 1, 1, 1])";
constexpr const char* with_bias =
    "conv(f32[1x8x7x6], f32[12x8x3x3], f32[12], pads=[1, 0, 2, 1], strides=[2, 1])";

TEST(Lift, GroupsAreAConvolutionInGroups) {
  Graph graph = expect_same(plain, "group(4)");
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(weight_count(graph), 8 * 2 * 9);
  EXPECT_EQ(call_of(graph, graph.nodes.front()).integer("groups"), 4);
  expect_same(with_bias, "group(2)");
  expect_same(plain, "group(8)");
}

TEST(Lift, InputBottlenecksReadFewerChannels) {
  Graph graph = expect_same(plain, "interchange(co, ci) -> bottleneck(2)");
  EXPECT_EQ(weight_count(graph), 8 * 4 * 9);
  expect_same(with_bias, "interchange(co, ci) -> bottleneck(4)");
}

TEST(Lift, RepeatedChannelsAreTaken) {
  Graph graph = expect_same(plain, "bottleneck(2, repeat)");
  EXPECT_TRUE(has_node(graph, "take"));
  EXPECT_EQ(graph.nodes.size(), 2u);
}

TEST(Lift, SpatialBottlenecksAreStrided) {
  Graph rows = expect_same(plain, "reorder(oh, ow, co, ci) -> bottleneck(2, repeat)");
  EXPECT_EQ(rows.nodes.size(), 2u);
  expect_same(plain,
              "reorder(oh, ow, co, ci) -> bottleneck(2, repeat) -> interchange(oh, ow) -> "
              "bottleneck(3, repeat)");
}

TEST(Lift, ExpandIsAConvolutionOfOneElement) {
  Graph graph = expect_same(plain, "bottleneck(2, expand)");
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(weight_count(graph), 4 * 8 * 9 + 8 * 4);
}

TEST(Lift, DeepenIsANormalisationAReluAndAConvolution) {
  Graph graph = expect_same(plain, "bottleneck(2, deepen)");
  ASSERT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(graph.nodes[1].op, "batch_norm");
  EXPECT_EQ(graph.nodes[2].op, "relu");
  EXPECT_EQ(graph.nodes[3].op, "conv");
  EXPECT_EQ(weight_count(graph), 4 * 8 * 9 + 2 * 4 + 8 * 4) << "statistics are not learnt";
  expect_same(with_bias, "bottleneck(3, deepen)");
  expect_same("conv(f32[2x4x5x5], f32[6x4x3x3], f32[6])",
              "reorder(co, ci, oh, ow, kh, kw, n) -> bottleneck(2, deepen)");
}

TEST(Lift, ReduceIsAConvolutionANormalisationAndARelu) {
  const std::string reduce = "interchange(conv:co, conv:ci) -> bottleneck(2, reduce)";
  Graph graph = expect_same(plain, reduce);
  ASSERT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(graph.nodes[0].op, "conv");
  EXPECT_EQ(graph.nodes[1].op, "batch_norm");
  EXPECT_EQ(graph.nodes[2].op, "relu");
  EXPECT_EQ(graph.nodes[3].op, "conv");
  // Windows see zeros around what was made, as they did around the input: the 1x1 has no padding.
  EXPECT_EQ(call_of(graph, graph.nodes[0]).integers("pads"), Shape{});
  EXPECT_EQ(call_of(graph, graph.nodes[3]).integers("pads"), (Shape{1, 1, 1, 1}));
  EXPECT_EQ(weight_count(graph), 4 * 8 + 2 * 4 + 8 * 4 * 9) << "statistics are not learnt";
  expect_same(with_bias, reduce);
  expect_same("conv(f32[2x4x5x5], f32[6x4x3x3], f32[6])",
              "reorder(ci, co, oh, ow, kh, kw, n) -> bottleneck(2, reduce)");
  expect_same("conv(f32[1x8x6x6], f32[8x8x1x1], strides=[2, 2])", reduce);
}

TEST(Lift, TheBottleneckOfPublishedNetworks) {
  const std::string block =
      "bottleneck(2, deepen) -> interchange(conv:co, conv:ci) -> bottleneck(2, reduce)";
  Graph graph = expect_same(plain, block);
  ASSERT_EQ(graph.nodes.size(), 7u);
  EXPECT_EQ(weight_count(graph), 4 * 8 + 2 * 4 + 4 * 4 * 9 + 2 * 4 + 8 * 4);
  EXPECT_EQ(expect_same(plain, block + " -> group(4)").nodes.size(), 7u);
  expect_same(with_bias, block + " -> group(2)");
}

TEST(Lift, NormalisationsAreSeenInAnyOrder) {
  expect_same(plain, "bottleneck(2, deepen) -> split(normalise:oh, 4) -> interchange(oh.i, ow)");
  expect_same(plain, "bottleneck(2, deepen) -> group(4)");
  expect_same(plain, "bottleneck(2, deepen) -> interchange(conv:co, conv:ci) -> bottleneck(2)");
}

TEST(Lift, NormalisationsBeginLikeThoseOfTheBuiltInNetworks) {
  Context context;
  Graph graph = one_layer(plain);
  Nest nest = replay(nest_of(context, call_of(graph, graph.nodes.front())),
                     parse_recipe("bottleneck(2, deepen)"));
  Graph lifted = with_nest(graph, 0, nest);
  auto value = [&](const char* name) { return lifted.values[find_value(lifted, name).value()]; };
  EXPECT_EQ(value("layer.scale").initial.kind, Initial::Kind::ones);
  EXPECT_EQ(value("layer.shift").initial.kind, Initial::Kind::zeros);
  EXPECT_EQ(value("layer.mean").initial.kind, Initial::Kind::zeros);
  EXPECT_EQ(value("layer.variance").initial.kind, Initial::Kind::ones);
  EXPECT_EQ(value("layer.shift").kind, Value::Kind::weight);
  EXPECT_EQ(value("layer.mean").kind, Value::Kind::state);
  EXPECT_EQ(value("layer.variance").kind, Value::Kind::state);
}

TEST(Lift, GroupsThatAConvolutionMixes) {
  Graph graph = expect_same(plain, "group(4, expand)");
  EXPECT_EQ(weight_count(graph), 8 * 2 * 9 + 8 * 8);
  graph = expect_same(plain, "group(8, deepen)");
  EXPECT_EQ(weight_count(graph), 8 * 9 + 2 * 8 + 8 * 8);
  expect_same(with_bias, "group(4, deepen)");
  expect_same(with_bias, "interchange(conv:co, ci) -> group(2, expand)");
}

/// Returns the weights' names.
std::vector<std::string> weights_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value& value : graph.values) {
    if (value.kind == Value::Kind::weight) names.push_back(value.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Lift, OneWeightForConvolutionsThatReadTheSameElements) {
  Graph graph = expect_same(plain, "group(2) -> split_range(oh, 1/2)");
  EXPECT_EQ(weights_of(graph), std::vector<std::string>{"w1"});
  EXPECT_EQ(weight_count(graph), 8 * 4 * 9);
}

TEST(Lift, PartsOfAWeightAreNumberedByTheirPlace) {
  using Names = std::vector<std::string>;
  Graph one =
      expect_same(plain, "split_range(co, 1/2) -> group(2) -> interchange(co.0, co.1) -> group(4)");
  Graph other = expect_same(plain,
                            "split_range(co, 1/2) -> interchange(co.0, co.1) -> group(4) -> "
                            "interchange(g, co.0) -> group(2)");
  EXPECT_EQ(weights_of(one), (Names{"w1", "w1_1"}));
  for (const char* name : {"w1", "w1_1"}) {
    auto shape = [&](const Graph& graph) {
      return graph.values[find_value(graph, name).value()].type.shape;
    };
    EXPECT_EQ(shape(one), shape(other)) << name;
  }
  EXPECT_EQ(weights_of(expect_same(with_bias, "split_range(co, 1/3) -> group(2)")),
            (Names{"w1", "w1_1", "w2", "w2_1"}));
}

TEST(Lift, OtherWeightsKeepTheirNames) {
  GraphBuilder g("net");
  ValueId x = g.input("x", {Element::f32, {1, 4, 4, 4}});
  Initial normal{Initial::Kind::normal, 1};
  ValueId a = g.call("conv", {x, g.weight("w", {4, 4, 1, 1}, normal)}, {}, "a");
  g.output(g.call("conv", {a, g.weight("w_1", {4, 4, 1, 1}, normal)}, {}, "b"));
  Graph graph = g.build();
  Context context;
  auto layer = [&](size_t node, const char* recipe) {
    Nest nest = nest_of(context, call_of(graph, graph.nodes[node]));
    return LayerNest{node, replay(nest, parse_recipe(recipe))};
  };
  Graph lifted = with_nests(graph, {layer(0, "split_range(co, 1/2)"), layer(1, "group(2)")});
  EXPECT_EQ(weights_of(lifted), (std::vector<std::string>{"w", "w_1", "w_1_"}));
  EXPECT_EQ(lifted.values[find_value(lifted, "w_1").value()].type.shape, (Shape{4, 2, 1, 1}));
}

TEST(Lift, PartsOfABiasBeginLikeIt) {
  GraphBuilder g("net");
  ValueId x = g.input("x", {Element::f32, {1, 4, 4, 4}});
  ValueId w = g.weight("w", {4, 4, 1, 1}, {Initial::Kind::normal, 1});
  g.output(g.call("conv", {x, w, g.weight("b", {4}, {Initial::Kind::zeros})}, {}, "a"));
  Graph graph = g.build();
  Context context;
  Nest nest = replay(nest_of(context, call_of(graph, graph.nodes[0])),
                     parse_recipe("bottleneck(2, repeat)"));
  Graph lifted = with_nest(graph, 0, nest);
  const Value& bias = lifted.values[find_value(lifted, "b").value()];
  EXPECT_EQ(bias.type.shape, Shape{2});
  EXPECT_EQ(bias.initial.kind, Initial::Kind::zeros);
}

TEST(Lift, HalvesGroupedDifferentlyAreConcatenated) {
  Graph graph =
      expect_same(plain, "split_range(co, 1/2) -> group(2) -> interchange(co.0, co.1) -> group(4)");
  EXPECT_TRUE(has_node(graph, "concat"));
  expect_same(with_bias, "split_range(co, 1/3) -> group(2)");
}

TEST(Lift, StripesReadTheirOwnChannels) {
  Graph graph = expect_same(plain, "reorder(oh, ci, co, ow) -> group(2)");
  EXPECT_TRUE(has_node(graph, "concat"));
  EXPECT_TRUE(has_node(graph, "slice"));
  expect_same("conv(f32[1x8x8x4], f32[4x8x3x3], f32[4], pads=[1, 1, 1, 1])",
              "reorder(ow, ci, co, oh) -> group(4)");
}

TEST(Lift, StepsCompose) {
  expect_same(plain, "group(2) -> interchange(g, ci) -> bottleneck(2)");
  expect_same("conv(f32[1x16x5x5], f32[16x16x1x1])", "group(4) -> reorder(co, ci, g) -> group(2)");
}

TEST(Lift, WindowsAreStoredInTheOrderOfTheirDimensions) {
  // A neural step makes the order of the loops that of the coordinates: kw comes before kh here.
  expect_same(plain, "interchange(kh, kw) -> group(2)");
  expect_same("conv(f32[1x8x4x4], f32[4x8x3x3], pads=[1, 1, 1, 1])",
              "bottleneck(4, deepen) -> interchange(ow, kw) -> bottleneck(8)");
  expect_same(with_bias, "reorder(co, kw, ci, kh, oh, ow) -> bottleneck(2, expand)");
  expect_same("conv(f32[1x4x3x4x5], f32[4x4x2x3x2], f32[4])",
              "reorder(co, ci, kw, kd, kh, od, oh, ow) -> group(2)");
}

TEST(Lift, AddedWeightsAreCutIntoParts) {
  // The steps group, and narrow, the convolution that the first step added.
  expect_same("conv(f32[1x6x4x2], f32[8x6x1x1])",
              "bottleneck(8, expand) -> interchange(conv:oh, conv:ow) -> group(2) -> "
              "bottleneck(2, expand)");
}

TEST(Lift, Batches) {
  expect_same("conv(f32[3x4x5x5], f32[6x4x3x3], f32[6])",
              "reorder(co, ci, oh, ow, kh, kw, n) -> group(2)");
  // Samples in another order, and in parts.
  const char* four = "conv(f32[4x4x5x5], f32[6x4x3x3], f32[6])";
  expect_same(four, "split(n, 2) -> reorder(co, ci, oh, ow, kh, kw, n.i, n.o) -> group(2)");
  expect_same(four, "split_range(n, 1/2)");
}

TEST(Lift, OtherRanks) {
  expect_same("fully_connected(f32[1x8], f32[6x8], f32[6])", "group(2)");
  expect_same("fully_connected(f32[1x8], f32[6x8])", "interchange(co, ci) -> bottleneck(2)");
  expect_same("conv(f32[1x6x9], f32[4x6x3], pads=[1, 1])", "group(2)");
  expect_same("conv(f32[1x4x3x4x5], f32[4x4x2x2x2], f32[4])", "group(4)");
}

TEST(Lift, ProgramStepsChangeNothing) {
  Graph graph = expect_same(plain, "split(co, 4) -> interchange(co.i, ci) -> vectorize(ow)");
  EXPECT_EQ(structural_hash(graph), structural_hash(one_layer(plain)));
}

/// A convolution in groups of one channel, whose result a statement then copies.
Nest copied_within(isl::ctx ctx, const std::string& copy) {
  return parse_nest(ctx, R"(nest conv
tensor I: input f32[1, 4, 2, 4]
tensor W: weight f32[4, 4, 1, 1]
tensor O: output f32[1, 4, 2, 4]
statement conv[c < 4, oh < 2, ow < 4]:
  O[0, c, oh, ow] += W[c, c, 0, 0] * I[0, c, oh, ow]
statement fill[c < 4, oh < 2, ow < 4]:
  )" + copy + "\n");
}

TEST(Lift, CopiesReplaceWhatIsThere) {
  Context context;
  Graph graph = one_layer("conv(f32[1x4x2x4], f32[4x4x1x1])");
  Nest nest = copied_within(context, "O[0, c, oh, ow] = O[0, c, oh, ow]");
  expect_lifted_computes(graph, nest, with_nest(graph, 0, nest));
  // Here the last two channels would be copied from what is no longer there.
  nest = copied_within(context, "O[0, c, oh, ow] = O[0, 3 - c, oh, ow]");
  try {
    expect_lifted_computes(graph, nest, with_nest(graph, 0, nest));
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("copies what it has copied before"), std::string::npos)
        << error.what();
  }
}

/// Expects that the changed layer has no form, and what is said of it.
void expect_no_form(const std::string& text, const std::string& recipe, const std::string& why) {
  Context context;
  Graph graph = one_layer(text);
  Nest nest = replay(nest_of(context, call_of(graph, graph.nodes.front())), parse_recipe(recipe));
  try {
    with_nest(graph, 0, nest);
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

TEST(Lift, SaysThatConsumersReadTheOldShape) {
  expect_no_form(plain, "bottleneck(2)", "would have the shape 1x4x6x6 instead of 1x8x6x6");
}

TEST(Lift, SaysThatAPartReadsNothingButPadding) {
  // Only the first row is computed, and the first of three groups reads the row above it.
  expect_no_form(
      "conv(f32[1x6x4x2], f32[4x6x3x3], f32[4], pads=[1, 1, 1, 1])",
      "split(co, 2) -> interchange(conv:co.o, conv:oh) -> bottleneck(4, repeat) -> "
      "split(ci, 3) -> interchange(conv:co.i, ci.i) -> interchange(ci.o, kh) -> group(3)",
      "a part of it reads nothing but padding");
}

}  // namespace
}  // namespace lathe::test
