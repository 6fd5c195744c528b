// Single elements are what the whole nest makes of them.
#include "nest/interpret_elements.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nest/interpret.h"
#include "nest/text.h"
#include "ops/op.h"

namespace lathe::test {
namespace {

/// Compares all elements of the outputs; returns how many there were.
long compare(const Nest& nest, double unit = 0) {
  Buffers<double> buffers = make_buffers<double>(nest), given;
  fill_inputs(nest, buffers, 1, 4);
  given = buffers;
  interpret(nest, buffers);
  auto read = [&](size_t t, long number) { return given[t][static_cast<size_t>(number)]; };
  ElementInterpreter<double> interpreter(nest, read, unit);
  long compared = 0;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    if (nest.tensors()[t].role != Role::output) continue;
    for (size_t k = 0; k < buffers[t].size(); ++k) {
      auto value = interpreter.element(t, static_cast<long>(k));
      double is = value ? value->value : 0, must = buffers[t][k];
      EXPECT_TRUE(is == must || std::abs(is - must) <= 1e-9 * std::abs(must))
          << nest.tensors()[t].name << " " << k << ": " << is << " instead of " << must;
      if (value && unit > 0) {
        EXPECT_LT(value->error, 1e-3 * (1 + std::abs(must)));
      }
      ++compared;
    }
  }
  return compared;
}

TEST(InterpretElements, AgreesWithTheInterpreter) {
  for (const char* text : {
           "conv(co=4, ci=6, oh=5, ow=7, k=3, pad=1)",
           "conv(f32[2x8x9x9], weight f32[8x2x3x3], groups=4, strides=[2, 2], pads=[1, 1, 1, 1])",
           "conv(f32[1x4x9x9], weight f32[4x1x3x3], groups=4, dilations=[2, 2])",
           "matmul(i=5, j=6, k=7)",
           "max_pool(f32[1x3x9x9], kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])",
           "avg_pool(f32[1x3x8x8], kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])",
           "softmax(f32[3x7], axis=1)",
           "reduce_mean(f32[2x3x4], axes=[1])",
           "conv_transpose(f32[1x4x5x5], weight f32[4x3x3x3], strides=[2, 2])",
           "transpose(f32[2x3x4], perm=[2, 0, 1])",
           // A single row: its index is a constant of the statement that writes it.
           "concat(f32[1x3x1x4], f32[1x3x1x4], axis=2)",
           "concat(f32[1x3x1x4], f32[1x3x2x4], axis=2)",
       }) {
    SCOPED_TRACE(text);
    Context context;
    Nest nest = parse_op(context, text);
    EXPECT_GT(compare(nest), 0);
    EXPECT_GT(compare(nest, 0x1p-24), 0);
  }
}

TEST(InterpretElements, ExpectsSmallTermsToBeSwallowed) {
  Context context;
  Nest nest = parse_nest(context,
                         "nest biased\n"
                         "tensor B: input f32[1]\n"
                         "tensor X: input f32[64]\n"
                         "tensor A: output f32[1]\n"
                         "statement S[i < 1]:\n"
                         "  A[i] = B[i]\n"
                         "statement T[i < 1, k < 64]:\n"
                         "  A[i] += X[k]\n");
  constexpr float bias = 0.25F, term = 0.4F * 0x1p-25F;  // 0.4 of the last place of the bias
  float sum = bias;
  for (int k = 0; k < 64; ++k) sum += term;  // each time it stays as it is
  ElementInterpreter<double> interpreter(
      nest, [&](size_t t, long) -> double { return t == 0 ? bias : term; }, 0x1p-24);
  auto value = interpreter.element(2, 0);
  ASSERT_TRUE(value);
  EXPECT_EQ(sum, bias);
  EXPECT_GT(std::abs(value->value - sum), 10 * 0x1p-24 * bias);
  EXPECT_LE(std::abs(value->value - sum), value->error);
  EXPECT_LT(value->error, 1e-4 * bias);
}

TEST(InterpretElements, RefusesWhatDependsOnWhen) {
  Context context;
  // Each instance of S reads an element that a later one overwrites.
  Nest nest = parse_nest(context,
                         "nest shift\n"
                         "tensor A: output f32[9]\n"
                         "statement S[i < 8]:\n"
                         "  A[i] = A[i + 1]\n");
  EXPECT_THROW(compare(nest), UserError);
}

}  // namespace
}  // namespace lathe::test
