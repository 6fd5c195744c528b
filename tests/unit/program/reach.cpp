// Reach: which channels an operator connects, as the interpreter finds it.
#include "program/reach.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nest/interpret.h"
#include "ops/op.h"
#include "transforms/transform.h"

namespace lathe::test {
namespace {

/// Returns which output channels change if an input channel does, as the interpreter finds it. All
/// numbers are positive, so that nothing cancels out.
BitMatrix changed(const Nest& nest, size_t input, size_t output) {
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
  BitMatrix result(channels(output), channels(input));
  for (size_t c = 0; c < channels(input); ++c) {
    Buffers<double> after = given;
    for (size_t i = 0; i < inner(input); ++i) after[input][c * inner(input) + i] += 1000;
    interpret(nest, after);
    for (size_t i = 0; i < after[output].size(); ++i) {
      if (after[output][i] != before[output][i]) result.set(i / inner(output), c);
    }
  }
  return result;
}

TEST(Reach, IsWhatTheInterpreterFinds) {
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
           {"reshape(f32[1x3x2x2], shape=[1, 12])", ""}}) {
    SCOPED_TRACE(fmt::format("{} after '{}'", c.call, c.recipe));
    Context context;
    Nest nest = samples_inward(nest_of(context, parse_call(c.call)));
    for (const Step& step : parse_recipe(c.recipe)) nest = apply(nest, step).nest;
    size_t input = 0, output = 0;
    while (nest.tensors()[input].role != Role::input) ++input;
    while (nest.tensors()[output].role != Role::output) ++output;
    const std::vector<Pad>& pads = nest.tensors()[input].pad;
    if (std::any_of(pads.begin(), pads.end(),
                    [](const Pad& pad) { return pad.before + pad.after > 0; })) {
      ADD_FAILURE() << "the test does not know where channels with padding lie";
    }
    BitMatrix found = reached(nest, 0), wanted = changed(nest, input, output);
    ASSERT_EQ(found.rows(), wanted.rows());
    ASSERT_EQ(found.columns(), wanted.columns());
    for (size_t i = 0; i < found.rows(); ++i) {
      for (size_t j = 0; j < found.columns(); ++j) EXPECT_EQ(found.at(i, j), wanted.at(i, j));
    }
  }
}

}  // namespace
}  // namespace lathe::test
