// Nests without padding compute the same; borders hold it.
#include "compile/padding.h"

#include <gtest/gtest.h>

#include "codegen/loops.h"
#include "nest/border.h"
#include "nest/starts.h"
#include "ops/op.h"
#include "support/run_op.h"

namespace lathe::test {
namespace {

bool is_padded(const Tensor& tensor) {
  return std::any_of(tensor.pad.begin(), tensor.pad.end(),
                     [](const Pad& pad) { return pad.before > 0 || pad.after > 0; });
}

/// Interprets a nest on numbers that do not depend on the padding; returns its first output.
std::vector<double> output_of(const Nest& nest) {
  Buffers<double> buffers = make_buffers<double>(nest);
  for (size_t t = 0; t < buffers.size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    if (tensor.role != Role::input && tensor.role != Role::weight) continue;
    std::vector<long> at(tensor.shape.size(), 0);
    long next = 0;
    for (double& x : buffers[t]) {
      bool inside = true;
      for (size_t i = 0; i < at.size(); ++i) {
        inside = inside && at[i] >= tensor.pad[i].before &&
                 at[i] < tensor.shape[i] - tensor.pad[i].after;
      }
      if (inside) x = static_cast<double>(next++ * 7 % 11 - 5);
      for (size_t i = at.size(); i-- > 0;) {
        if (++at[i] < tensor.shape[i]) break;
        at[i] = 0;
      }
    }
  }
  interpret(nest, buffers);
  for (size_t t = 0; t < buffers.size(); ++t) {
    if (nest.tensors()[t].role == Role::output) return buffers[t];
  }
  return {};
}

TEST(Padding, StartsCountLikeWindowsThatAreCut) {
  // So both can share their loops, and the maximum stays in registers.
  Context ctx;
  Nest nest = parse_op(ctx, "max_pool(f32[1x2x5x5], kernel=[3, 3], pads=[1, 1, 1, 1])");
  auto padded = std::find_if(nest.tensors().begin(), nest.tensors().end(), is_padded);
  nest = without_padding(nest, static_cast<size_t>(padded - nest.tensors().begin()));
  Nest started = with_starts(nest);
  ASSERT_EQ(started.statements().size(), nest.statements().size() + 1);
  EXPECT_EQ(started.statements()[0].dims, (std::vector<std::string>{"c", "oh", "ow"}));
  EXPECT_EQ(output_of(started), output_of(nest));
}

TEST(Padding, NestsWithoutItComputeTheSame) {
  struct {
    const char* text;
    size_t more;  // statements
  } table[] = {
      {"conv(co=2, ci=3, oh=4, ow=5, k=3, pad=1)", 2},
      {"conv(co=2, ci=3, oh=4, ow=5, k=3, pad=1, bias=1, stride=2)", 2},
      {"depthwise(c=3, oh=4, ow=5, k=5, pad=2)", 2},
      {"max_pool(f32[1x2x5x5], kernel=[3, 3], pads=[1, 1, 1, 1])", 0},
      {"max_pool(f32[1x2x5x6], kernel=[2, 3], strides=[2, 2], pads=[0, 1, 1, 1])", 0},
      {"avg_pool(f32[1x2x5x5], kernel=[3, 3], pads=[1, 1, 1, 1])", 2},
  };
  for (const auto& [text, more] : table) {
    Context ctx;
    Nest nest = parse_op(ctx, text);
    auto padded = std::find_if(nest.tensors().begin(), nest.tensors().end(), is_padded);
    ASSERT_NE(padded, nest.tensors().end()) << text;
    auto tensor = static_cast<size_t>(padded - nest.tensors().begin());
    Nest without = without_padding(nest, tensor);
    EXPECT_FALSE(is_padded(without.tensors()[tensor])) << text;
    EXPECT_EQ(without.statements().size(), nest.statements().size() + more) << text;
    EXPECT_EQ(output_of(without), output_of(nest)) << text;
  }
}

TEST(Padding, BordersAreSetAndNothingElseIs) {
  struct {
    std::vector<long> shape;
    std::vector<Pad> border;
  } table[] = {
      {{3, 4}, {{1, 2}, {2, 1}}},
      {{5}, {{3, 0}}},
      {{1, 2, 3, 3}, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}},
      {{2, 2, 2}, {{1, 0}, {0, 1}, {2, 2}}},
  };
  for (const auto& [shape, border] : table) {
    Context ctx;
    Nest nest = border_of(ctx, shape, border, 7, Element::f32);
    Buffers<double> buffers = make_buffers<double>(nest);
    interpret(nest, buffers);
    std::vector<long> whole = nest.tensors().front().shape, at(shape.size(), 0);
    for (double x : buffers.front()) {
      bool inside = true;
      for (size_t i = 0; i < at.size(); ++i) {
        inside = inside && at[i] >= border[i].before && at[i] < border[i].before + shape[i];
      }
      EXPECT_EQ(x, inside ? 0 : 7);
      for (size_t i = at.size(); i-- > 0;) {
        if (++at[i] < whole[i]) break;
        at[i] = 0;
      }
    }
  }
}

}  // namespace
}  // namespace lathe::test
