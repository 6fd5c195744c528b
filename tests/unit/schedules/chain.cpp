// A sum of products and the windows over it: one loop over blocks of channels, one block between.
#include <gtest/gtest.h>

#include "compile/node.h"
#include "nest/starts.h"
#include "nest/text.h"
#include "ops/op.h"
#include "schedules/schedule.h"
#include "support/compiled.h"

namespace lathe::test {
namespace {

/// Returns an expansion of 8 to 48 channels and the windows over it.
Nest pair(isl::ctx ctx, long height, long width, const std::string& window) {
  return parse_op(
      ctx, fmt::format("fused(f32[1x8x{}x{}], weight f32[48x8x1x1], weight f32[48x1x3x3], "
                       "calls=[\"conv(%0, %1)\", \"relu(#0)\", \"conv(#1, %2, groups=48, {})\"])",
                       height, width, window));
}

std::vector<Layout> layouts_of(const Nest& nest) {
  std::vector<Layout> layouts;
  for (const Tensor& tensor : nest.tensors()) {
    bool data = tensor.role == Role::input || tensor.role == Role::output;
    long block = !data ? 1 : tensor.shape[1] % 16 == 0 ? 16 : 8;
    layouts.push_back(tensor.role == Role::local ? Layout{} : blocked_layout(tensor.shape, block));
  }
  return layouts;
}

/// Returns the shape of the tensor that windows slide over.
std::vector<long> stored_between(const NodeCode& code) {
  for (const Tensor& tensor : code.tensors) {
    if (tensor.name == "O2") return tensor.shape;
  }
  return {};
}

TEST(Chain, OneBlockOfChannelsIsStoredBetween) {
  for (long size : {8, 9, 13}) {
    for (const char* window :
         {"pads=[1, 1, 1, 1]", "pads=[1, 1, 1, 1], strides=[2, 2]", "pads=[0, 1, 1, 0]"}) {
      Context ctx;
      Nest nest = pair(ctx, size, 11, window);
      NodeCode code = lower_node(nest, layouts_of(nest), native_target());
      EXPECT_EQ(code.schedule, "chain") << code.recipe;
      std::vector<long> shape = stored_between(code);
      ASSERT_EQ(shape.size(), 4u);
      EXPECT_EQ(shape[1], 16) << code.recipe;
      EXPECT_EQ(code.kernels.size(), 1u);
    }
  }
}

/// Does the recipe bring the rows of both halves together?
bool takes_turns(const NodeCode& code) {
  return code.recipe.find("rename(oh.in") != std::string::npos;
}

TEST(Chain, RowsTakeTurnsWhereWindowsNeedNoLaterOnes) {
  Context ctx;
  Nest by_two = pair(ctx, 12, 12, "pads=[1, 1, 1, 1], strides=[2, 2]");
  EXPECT_TRUE(takes_turns(lower_node(by_two, layouts_of(by_two), native_target())));
  Nest by_one = pair(ctx, 12, 12, "pads=[1, 1, 1, 1]");
  EXPECT_FALSE(takes_turns(lower_node(by_one, layouts_of(by_one), native_target())));
}

TEST(Chain, EveryBandIsRight) {
  Context ctx;
  Random random(1, 0);
  Compilation compilation;
  Nest nest = pair(ctx, 15, 12, "pads=[1, 1, 1, 1], strides=[2, 2]");
  Reference wanted = interpreted(nest);
  for (long band : {0, 1, 2, 4, 7}) {
    Choice choice{"chain", {{"band", band}}};
    NodeCode code =
        lower_node(nest, layouts_of(nest), native_target(), Listing::none, Unset::zero, choice);
    EXPECT_TRUE(code.as_chosen) << band;
    compilation.add(
        {code.tensors, code.layouts, code.repackings, code.kernels, wanted, code.recipe});
  }
  compilation.run(random);
}

}  // namespace
}  // namespace lathe::test
