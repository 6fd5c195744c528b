// Mixing: which channels of a network reach which, as its accesses say.
#include "program/mixing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/model.h"
#include "nest/interpret.h"
#include "ops/op.h"
#include "transforms/transform.h"
#include "transforms/transform_network.h"

namespace lathe::test {
namespace {

Mixing after(const char* recipe) {
  Graph network = load_model("resnet20-cifar", {.size = 8});
  return mixing_of(transformed(network, parse_network_recipe(recipe)));
}

TEST(Mixing, AnOrdinaryNetworkMixesAll) {
  Mixing mixing = after("");
  EXPECT_EQ(mixing.connected, 1);
  EXPECT_EQ(mixing.dead, 0);
}

TEST(Mixing, ContiguousGroupsNeverMeet) {
  EXPECT_EQ(after("layer*.conv?: group(2)").connected, 0.5);
  EXPECT_EQ(after("layer*.conv?: group(4)").connected, 0.25);
  // One stage of three: its share is 1/4, that of the others is 1.
  EXPECT_EQ(after("layer2.*.conv?: group(4)").connected, (1 + 0.25 + 1) / 3);
}

TEST(Mixing, ShuffledGroupsMeetInEachBlock) {
  // The stages have 16, 32 and 64 channels.
  EXPECT_EQ(after("layer*.conv1: group(4)\n"
                  "layer1.*.conv2: split(ci, 4) -> interchange(ci.o, ci.i) -> group(4)\n"
                  "layer2.*.conv2: split(ci, 8) -> interchange(ci.o, ci.i) -> group(4)\n"
                  "layer3.*.conv2: split(ci, 16) -> interchange(ci.o, ci.i) -> group(4)")
                .connected,
            1);
}

TEST(Mixing, OneDenseLayerConnectsAStage) {
  EXPECT_EQ(after("layer*.conv1: group(4)").connected, 1);
}

TEST(Mixing, SeesWhatNobodyReads) {
  // The second layer reads the first half of the first one's filters.
  Mixing mixing = after("layer2.1.conv2: interchange(co, ci) -> bottleneck(2)");
  EXPECT_GT(mixing.dead, 0);
  EXPECT_EQ(mixing.connected, 1);
}

/// Returns which output channels change if an input channel does, as the interpreter finds it. All
/// numbers are positive, so that nothing cancels out.
BitMatrix changed(const Nest& nest, size_t output) {
  Buffers<double> before = make_buffers<double>(nest);
  fill_inputs(nest, before, 1);
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    bool given = nest.tensors()[t].role == Role::input || nest.tensors()[t].role == Role::weight;
    for (double& x : before[t]) x = given ? std::abs(x) + 1 : x;
  }
  Buffers<double> given = before;
  interpret(nest, before);
  auto inner = [&](size_t tensor) {
    const Shape& shape = nest.tensors()[tensor].shape;
    return static_cast<size_t>(count_of(shape) / shape[0] / shape[1]);
  };
  auto channels = [&](size_t tensor) {
    return static_cast<size_t>(nest.tensors()[tensor].shape[1]);
  };
  BitMatrix result(channels(output), channels(0));
  for (size_t c = 0; c < channels(0); ++c) {
    Buffers<double> after = given;
    for (size_t i = 0; i < inner(0); ++i) after[0][c * inner(0) + i] += 1000;
    interpret(nest, after);
    for (size_t i = 0; i < after[output].size(); ++i) {
      if (after[output][i] != before[output][i]) result.set(i / inner(output), c);
    }
  }
  return result;
}

TEST(Mixing, IsWhatTheInterpreterFinds) {
  struct Case {
    const char* call;
    const char* recipe;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"conv(f32[1x8x4x4], f32[6x8x3x3])", ""},
           {"conv(f32[1x8x4x4], f32[6x4x3x3], groups=2)", ""},
           {"conv(f32[1x8x4x4], f32[8x8x3x3])", "group(4)"},
           {"conv(f32[1x8x4x4], f32[8x8x1x1])", "group(2, expand)"},
           {"conv(f32[1x8x4x4], f32[8x8x3x3])",
            "split(ci, 4) -> interchange(ci.o, ci.i) -> group(2)"},
           {"conv(f32[1x8x4x4], f32[8x8x3x3])", "bottleneck(4, repeat)"},
           {"conv(f32[1x8x4x4], f32[8x8x3x3])", "interchange(co, ci) -> bottleneck(2)"},
           {"conv(f32[1x8x4x4], f32[8x8x1x1])",
            "split_range(co, 1/2) -> group(2) -> interchange(co.0, co.1) -> group(4)"},
           {"max_pool(f32[1x3x4x4], kernel=[2, 2])", ""},
           {"relu(f32[1x5x2x2])", ""},
           {"concat(f32[1x2x2x2], f32[1x3x2x2], axis=1)", ""},
           {"flatten(f32[1x3x2x2])", ""}}) {
    SCOPED_TRACE(fmt::format("{} after '{}'", c.call, c.recipe));
    Context context;
    Nest nest = samples_inward(nest_of(context, parse_call(c.call)));
    for (const Step& step : parse_recipe(c.recipe)) nest = apply(nest, step).nest;
    size_t output = 0;
    while (nest.tensors()[output].role != Role::output) ++output;
    if (std::any_of(nest.tensors()[0].pad.begin(), nest.tensors()[0].pad.end(),
                    [](const Pad& pad) { return pad.before + pad.after > 0; })) {
      ADD_FAILURE() << "the test does not know where channels with padding lie";
    }
    BitMatrix found = reached(nest, 0), wanted = changed(nest, output);
    ASSERT_EQ(found.rows(), wanted.rows());
    ASSERT_EQ(found.columns(), wanted.columns());
    for (size_t i = 0; i < found.rows(); ++i) {
      for (size_t j = 0; j < found.columns(); ++j) EXPECT_EQ(found.at(i, j), wanted.at(i, j));
    }
  }
}

}  // namespace
}  // namespace lathe::test
