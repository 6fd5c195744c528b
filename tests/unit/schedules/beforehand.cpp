// Products of integers that the nest makes: the template for them, and its code.
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/node.h"
#include "legality/legality.h"
#include "nest/text.h"
#include "ops/op.h"
#include "support/layouts.h"

namespace lathe::test {
namespace {

NodeCode quantised(const char* layer, const char* target) {
  Context ctx;
  Nest nest = replay(parse_op(ctx, layer), parse_recipe("quantize(int8)"));
  std::vector<Layout> layouts = blocked_layouts(nest, 16);
  for (size_t t = 0; t < layouts.size(); ++t) {
    if (nest.tensors()[t].role == Role::local) layouts[t] = {};
  }
  return lower_node(nest, layouts, target_named(target));
}

std::string text_of(const NodeCode& code) {
  std::string text;
  for (const Code& kernel : code.kernels) text += print(kernel);
  return text;
}

TEST(Beforehand, MakesDotProductsWhereTheTargetHasThem) {
  for (const char* layer : {"conv(n=1, co=32, ci=32, oh=8, ow=8, k=3, pad=1)",
                            "conv(n=1, co=32, ci=32, oh=8, ow=8, k=3, pad=1, groups=2, bias=1)",
                            "conv(n=1, co=32, ci=16, oh=8, ow=8, k=1, stride=2)",
                            "fully_connected(n=3, co=64, ci=32, bias=1)"}) {
    for (const char* target : {"aarch64+dot", "aarch64", "x86-64-v3"}) {
      NodeCode code = quantised(layer, target);
      EXPECT_EQ(code.schedule, "beforehand") << layer;
      EXPECT_EQ(text_of(code).find("dot(") != std::string::npos,
                target == std::string("aarch64+dot"))
          << layer << " for " << target << ": " << code.recipe;
    }
  }
}

TEST(Beforehand, MakesIntegersOfWeightsOnce) {
  NodeCode code = quantised("conv(n=1, co=32, ci=32, oh=8, ow=8, k=3, pad=1)", "aarch64+dot");
  for (size_t k = 0; k < code.kernels.size(); ++k) {
    bool data = false, weights = false;
    for (size_t t : arguments_of(code.kernels[k])) {
      data = data || code.tensors[t].name.starts_with("I") || code.tensors[t].name.starts_with("O");
      weights = weights || code.tensors[t].name.starts_with("W");
    }
    EXPECT_EQ(code.once[k], weights && !data) << k;
  }
  EXPECT_GE(std::count(code.once.begin(), code.once.end(), true), 4);  // the last one packs them
}

TEST(Beforehand, LeavesOtherNestsToOthers) {
  Context ctx;
  for (const char* text :
       {"conv(n=1, co=32, ci=32, oh=8, ow=8, k=1)", "softmax(f32[4x9], axis=1)",
        "fused(f32[1x8x14x14], weight f32[32x8x1x1], weight f32[32x1x3x3], calls=[\"conv(%0, "
        "%1)\", \"relu(#0)\", \"conv(#1, %2, groups=32, pads=[1, 1, 1, 1])\"])"}) {
    Nest nest = parse_op(ctx, text);
    NodeCode code = lower_node(nest, blocked_layouts(nest, 16), target_named("aarch64"));
    EXPECT_NE(code.schedule, "beforehand") << text;
  }
}

}  // namespace
}  // namespace lathe::test
