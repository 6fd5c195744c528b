// Sums in blocks of channels, where the result is row-major.
#include "compile/sums.h"

#include <gtest/gtest.h>

#include "ops/op.h"
#include "support/brute_force.h"
#include "support/layouts.h"

namespace lathe::test {
namespace {

TEST(BlockedSums, AreCopiedToTheResult) {
  Context ctx;
  for (const char* op : {"conv(f32[1x4x5x5], f32[32x4x3x3], f32[32])",
                         "conv(f32[2x4x5x5], f32[32x2x3x3], groups=2)"}) {
    SCOPED_TRACE(op);
    Nest nest = parse_op(ctx, op);
    std::vector<Layout> layouts = row_major_layouts(nest);
    Nest summed = with_blocked_sums(nest, layouts);
    ASSERT_EQ(summed.tensors().size(), nest.tensors().size() + 1);
    ASSERT_EQ(layouts.size(), summed.tensors().size());
    EXPECT_EQ(summed.tensors().back().role, Role::local);
    EXPECT_EQ(layouts.back().axes[1].block, 16);
    EXPECT_EQ(outputs(summed), outputs(nest));
  }
}

TEST(BlockedSums, OnlyWhereFiltersAreSummedUp) {
  Context ctx;
  for (const char* op : {"conv(f32[1x16x5x5], f32[16x1x3x3], groups=16)",  // depthwise
                         "conv(f32[1x4x5x5], f32[6x4x3x3])",               // 6 channels
                         "relu(f32[1x16x5x5])", "max_pool(f32[1x16x6x6], kernel=[2, 2])"}) {
    SCOPED_TRACE(op);
    Nest nest = parse_op(ctx, op);
    std::vector<Layout> layouts = row_major_layouts(nest);
    EXPECT_EQ(with_blocked_sums(nest, layouts).tensors().size(), nest.tensors().size());
  }
}

TEST(BlockedSums, NotWhereTheResultLiesInBlocks) {
  Context ctx;
  Nest nest = parse_op(ctx, "conv(f32[1x4x5x5], f32[32x4x3x3])");
  std::vector<Layout> layouts = row_major_layouts(nest);
  for (size_t t = 0; t < layouts.size(); ++t) {
    if (nest.tensors()[t].role == Role::output) layouts[t] = blocked_layout({1, 32, 3, 3}, 16);
  }
  EXPECT_EQ(with_blocked_sums(nest, layouts).tensors().size(), nest.tensors().size());
}

}  // namespace
}  // namespace lathe::test
