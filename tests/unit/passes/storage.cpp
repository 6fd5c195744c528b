// The passes that choose where values lie: blocks of channels, parts in place, borders. They change
// no result, which run_graph.h compares where a network runs.
#include <gtest/gtest.h>

#include "compile/ready.h"
#include "models/model.h"
#include "passes/pass.h"
#include "support/interpreted.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

const Storage& storage_of(const Graph& graph, const std::string& name) {
  return graph.values[find_value(graph, name).value()].storage;
}

Graph ready_text(const std::string& text) {
  return ready_to_compile(initialised(parse_graph(text), 1));
}

const std::string chain =
    "graph g\n"
    "input x: f32[1x3x8x8]\n"
    "weight w1: f32[16x3x3x3] = normal(0.1)\n"
    "weight w2: f32[24x16x3x3] = normal(0.1)\n"
    "weight w3: f32[10x24x1x1] = normal(0.1)\n"
    "a = conv(x, w1, pads=[1, 1, 1, 1]): f32[1x16x8x8]\n"
    "b = conv(a, w2, pads=[1, 1, 1, 1]): f32[1x24x8x8]\n"
    "c = conv(b, w3): f32[1x10x8x8]\n"
    "d = conv(c, w4, pads=[2, 2, 2, 2]): f32[1x8x8x8]\n"
    "output d\n";

std::string with_last_weight(std::string text) {
  return text.insert(text.find("a = "), "weight w4: f32[8x10x5x5] = normal(0.1)\n");
}

TEST(AlterOpLayout, BlocksAreAsLargeAsChannelsAllow) {
  Graph graph = ready_text(with_last_weight(chain));
  EXPECT_EQ(storage_of(graph, "a").block, 16);
  EXPECT_EQ(storage_of(graph, "b").block, 8);
  EXPECT_EQ(storage_of(graph, "c").block, 1);  // 10 channels
  EXPECT_EQ(storage_of(graph, "d").block, 1);  // callers read it
}

TEST(AlterOpLayout, TheSameChannelsHaveTheSameBlocks) {
  // a and c are summed up; c is summed up per channel by a window of its own, too.
  Graph graph = ready_text(
      "graph g\ninput x: f32[1x64x8x8]\nweight w: f32[64x64x1x1] = normal(0.1)\n"
      "weight v: f32[64x1x3x3] = normal(0.1)\nweight u: f32[96x64x1x1] = normal(0.1)\n"
      "weight t: f32[8x96x1x1] = normal(0.1)\n"
      "a = conv(x, w): f32[1x64x8x8]\n"
      "c = conv(a, v, pads=[1, 1, 1, 1], groups=64): f32[1x64x8x8]\n"
      "d = conv(c, u): f32[1x96x8x8]\ne = relu(d): f32[1x96x8x8]\n"
      "f = conv(e, t): f32[1x8x8x8]\noutput f\n");
  EXPECT_EQ(storage_of(graph, "x.stored").block, 64);
  EXPECT_EQ(storage_of(graph, "a").block, 16);  // a window walks few channels at a time
  EXPECT_EQ(storage_of(graph, "c").block, 16);
  EXPECT_EQ(storage_of(graph, "e").block, 48);
}

TEST(AlterOpLayout, OneChannelIsBroadcast) {
  Graph graph = ready_text(
      "graph g\ninput x: f32[1x32x8x8]\nweight w: f32[1x32x1x1] = normal(0.1)\n"
      "weight v: f32[32x32x1x1] = normal(0.1)\n"
      "m = conv(x, w): f32[1x1x8x8]\na = conv(x, v): f32[1x32x8x8]\n"
      "b = mul(a, m): f32[1x32x8x8]\nc = conv(b, v): f32[1x32x8x8]\noutput c\n");
  EXPECT_EQ(storage_of(graph, "b").block, 32);
}

TEST(SliceStridedInput, TakesWhatIsRead) {
  std::string text =
      "graph g\ninput x: f32[1x4x7x6]\nweight w: f32[8x4x1x1] = normal(0.1)\n"
      "a = conv(x, w, strides=[2, 3]): f32[1x8x4x2]\noutput a\n";
  Graph graph = initialised(parse_graph(text), 1),
        sliced = find_pass("slice_strided_input").run(graph, {});
  ASSERT_EQ(sliced.nodes.size(), 2u);
  EXPECT_EQ(sliced.nodes[0].op, "slice");
  EXPECT_EQ(sliced.values[sliced.nodes[0].outputs[0]].type.shape, (Shape{1, 4, 4, 2}));
  std::vector<lathe::Array> inputs = random_inputs(graph);
  expect_elements(interpreted(sliced, inputs)[0], interpreted(graph, inputs)[0].reals(), 0);
  expect_elements(Executor(graph, {.target = native_target()}).run(inputs)[0],
                  interpreted(graph, inputs)[0].reals(), 1e-5);
}

TEST(SliceStridedInput, LeavesOthersAlone) {
  for (const char* rest :
       {"weight w: f32[8x4x3x3] = normal(0.1)\na = conv(x, w, strides=[2, 2]): f32[1x8x3x3]\n",
        "weight w: f32[8x4x1x1] = normal(0.1)\na = conv(x, w): f32[1x8x7x7]\n",
        "weight w: f32[8x4x1x1] = normal(0.1)\nb = relu(x): f32[1x4x7x7]\n"
        "a = conv(b, w, strides=[2, 2]): f32[1x8x4x4]\n",
        "weight w: f32[8x4x1x1] = normal(0.1)\n"
        "a = conv(x, w, strides=[2, 2], pads=[1, 1, 0, 0]): f32[1x8x4x4]\n"}) {
    SCOPED_TRACE(rest);
    Graph graph =
        parse_graph(std::string("graph g\ninput x: f32[1x4x7x7]\n") + rest + "output a\n");
    EXPECT_EQ(find_pass("slice_strided_input").run(graph, {}).nodes.size(), graph.nodes.size());
  }
}

TEST(AlterOpLayout, WhatOthersReadStaysInRows) {
  Graph graph = ready_text(
      "graph g\ninput x: f32[1x16x4x4]\nweight w: f32[16x16x1x1] = normal(0.1)\n"
      "a = conv(x, w): f32[1x16x4x4]\nb = reshape(a, shape=[1, 256]): f32[1x256]\noutput b\n");
  EXPECT_EQ(storage_of(graph, "a").block, 1);
}

TEST(StorePadding, BordersAreAsWideAsUsersRead) {
  Graph graph = ready_text(with_last_weight(chain));
  EXPECT_EQ(storage_of(graph, "a").border, (std::vector<Pad>{{0, 0}, {0, 0}, {1, 1}, {1, 1}}));
  EXPECT_TRUE(storage_of(graph, "b").border.empty());
  EXPECT_EQ(storage_of(graph, "c").border, (std::vector<Pad>{{0, 0}, {0, 0}, {2, 2}, {2, 2}}));
  EXPECT_TRUE(storage_of(graph, "d").border.empty());
}

TEST(StorePadding, NeitherInputsNorOutputsHaveOne) {
  Graph graph = ready_text(
      "graph g\ninput x: f32[1x16x4x4]\nweight w: f32[16x16x3x3] = normal(0.1)\n"
      "a = conv(x, w, pads=[1, 1, 1, 1]): f32[1x16x4x4]\n"
      "b = conv(a, w, pads=[1, 1, 1, 1]): f32[1x16x4x4]\noutput a\noutput b\n");
  EXPECT_TRUE(storage_of(graph, "x").border.empty());
  EXPECT_TRUE(storage_of(graph, "a").border.empty());
}

const std::string joined =
    "graph g\n"
    "input x: f32[1x16x6x6]\n"
    "weight w: f32[16x16x1x1] = normal(0.1)\n"
    "weight v: f32[8x16x3x3] = normal(0.1)\n"
    "weight u: f32[4x40x1x1] = normal(0.1)\n"
    "a = conv(x, w): f32[1x16x6x6]\n"
    "b = conv(a, v, pads=[1, 1, 1, 1]): f32[1x8x6x6]\n"
    "c = conv(x, w): f32[1x16x6x6]\n";

TEST(ConcatInPlace, PartsLieInTheWhole) {
  std::string text = joined +
                     "z = concat(a, b, x, axis=1): f32[1x40x6x6]\n"
                     "y = conv(z, u): f32[1x4x6x6]\noutput y\n";
  Graph graph = ready_text(text);
  ValueId whole = find_value(graph, "z").value();
  EXPECT_EQ(graph.values[whole].storage.block, 8);
  // Its 16 channels could lie together, but not those of the whole.
  EXPECT_EQ(storage_of(graph, "a").block, 8);
  EXPECT_EQ(storage_of(graph, "a").whole, whole);
  EXPECT_EQ(storage_of(graph, "b").whole, whole);
  EXPECT_EQ(storage_of(graph, "b").first, 16);
}

TEST(ConcatInPlace, NetworksComputeTheSame) {
  for (const char* last :
       {"z = concat(a, b, axis=1): f32[1x24x6x6]\ny = relu(z): f32[1x24x6x6]\noutput y\n",
        "z = concat(b, a, c, b, axis=1): f32[1x48x6x6]\ny = relu(z): f32[1x48x6x6]\noutput y\n",
        "z = concat(a, b, axis=1): f32[1x24x6x6]\noutput z\n",
        "z = concat(a, b, axis=1): f32[1x24x6x6]\noutput z\noutput a\n",
        "z = concat(a, x, axis=1): f32[1x32x6x6]\nq = concat(z, b, axis=1): f32[1x40x6x6]\n"
        "y = conv(q, u): f32[1x4x6x6]\noutput y\n",
        "z = concat(a, c, axis=2): f32[1x16x12x6]\noutput z\n"}) {
    SCOPED_TRACE(last);
    Graph graph = initialised(parse_graph(joined + last), 1);
    verify_types(graph);
    std::vector<lathe::Array> inputs = random_inputs(graph);
    std::vector<lathe::Array> wanted = interpreted(graph, inputs),
                              got = Executor(graph, {.target = native_target()}).run(inputs);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) expect_elements(got[i], wanted[i].reals(), 1e-4);
  }
}

TEST(ConcatInPlace, TheConcatenationsOfDensenetAreNoSteps) {
  Compiled compiled =
      compile(initialised(load_model("densenet121-cifar"), 1), {.target = native_target()});
  size_t concatenations = 0;
  for (const CompiledNode& node : compiled.nodes) {
    if (node.op != "concat") continue;
    ++concatenations;
    EXPECT_EQ(node.steps, 0u) << node.name;
  }
  EXPECT_GT(concatenations, 0u);
}

}  // namespace
}  // namespace lathe::test
