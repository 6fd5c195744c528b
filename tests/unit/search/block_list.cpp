// The list of blocks: which fit a layer, that each is a network of standard operators, and that no
// score has a say in it.
#include "search/block_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "compile/executor.h"
#include "models/model.h"
#include "program/layers.h"
#include "search/network_space.h"

namespace lathe::test {
namespace {

std::vector<std::string> recipes_of(const std::string& layer) {
  std::vector<std::string> recipes;
  for (const LayerVariant& block : blocks_of(parse_call(layer))) {
    recipes.push_back(print(block.recipe));
  }
  return recipes;
}

const std::string bottleneck_2 =
    "bottleneck(2, deepen) -> interchange(conv:co, conv:ci) -> bottleneck(2, reduce)";
const std::string bottleneck_4 =
    "bottleneck(4, deepen) -> interchange(conv:co, conv:ci) -> bottleneck(4, reduce)";

TEST(BlockList, OfALayerOf3x3) {
  std::vector<std::string> wanted{""};
  for (const char* groups : {"2", "4", "8", "16"}) {
    for (const char* behind : {"", ", expand", ", deepen"}) {
      wanted.push_back(fmt::format("group({}{})", groups, behind));
    }
  }
  for (const std::string& bottleneck : {bottleneck_2, bottleneck_4}) {
    wanted.push_back(bottleneck);
    for (const char* groups : {"2", "4", "8", "16"}) {
      wanted.push_back(bottleneck + " -> group(" + groups + ")");
    }
  }
  wanted.push_back("group(128, deepen)");
  EXPECT_EQ(recipes_of("conv(f32[1x128x8x8], f32[128x128x3x3], pads=[1, 1, 1, 1])"), wanted);
}

TEST(BlockList, NumbersDivideTheChannels) {
  // 12 filters on 8 channels: neither 8 nor 16 groups, and depthwise filters do not make 12.
  std::vector<std::string> recipes =
      recipes_of("conv(f32[1x8x8x8], f32[12x8x3x3], f32[12], pads=[1, 1, 1, 1])");
  std::vector<std::string> wanted{"",
                                  "group(2)",
                                  "group(2, expand)",
                                  "group(2, deepen)",
                                  "group(4)",
                                  "group(4, expand)",
                                  "group(4, deepen)",
                                  bottleneck_2,
                                  bottleneck_2 + " -> group(2)",
                                  bottleneck_4};
  EXPECT_EQ(recipes, wanted);
}

TEST(BlockList, OfAStridedLayer) {
  // Twice as many filters as channels: depthwise ones, then a 1x1 convolution for the rest.
  std::vector<std::string> recipes =
      recipes_of("conv(f32[1x64x8x8], f32[128x64x3x3], strides=[2, 2], pads=[1, 1, 1, 1])");
  EXPECT_EQ(recipes.back(), "bottleneck(2, deepen) -> group(64)");
  EXPECT_TRUE(std::count(recipes.begin(), recipes.end(), "group(16)"));
  EXPECT_TRUE(std::count(recipes.begin(), recipes.end(), bottleneck_4 + " -> group(8)"));
  // The 1x1 convolution before runs at the full resolution, that of the layer at a quarter of it:
  // with half of the channels it saves little, but it does.
  EXPECT_TRUE(std::count(recipes.begin(), recipes.end(), bottleneck_2));
}

TEST(BlockList, ComputesLessThanTheLayer) {
  // Behind a 1x1 layer another 1x1 convolution costs as much as the layer did.
  std::vector<std::string> recipes = recipes_of("conv(f32[1x64x8x8], f32[64x64x1x1])");
  std::vector<std::string> wanted{"", "group(2)", "group(4)", "group(8)", "group(16)"};
  for (const char* groups : {"", " -> group(2)", " -> group(4)", " -> group(8)"}) {
    wanted.push_back(bottleneck_4 + groups);
  }
  // 1/2 down and up alone are as many products as there were.
  EXPECT_EQ(recipes, wanted);
  for (const LayerVariant& block : blocks_of(parse_call("conv(f32[1x64x8x8], f32[64x64x7x7])"))) {
    EXPECT_LE(block.macs, 64L * 64 * 49 * 4);
  }
}

TEST(BlockList, OfALayerOf7x7AndOfOneInGroups) {
  std::vector<std::string> stem =
      recipes_of("conv(f32[1x3x32x32], f32[64x3x7x7], strides=[2, 2], pads=[3, 3, 3, 3])");
  EXPECT_EQ(stem, std::vector<std::string>{""});  // nothing divides three channels and 64 filters
  std::vector<std::string> wide =
      recipes_of("conv(f32[1x16x32x32], f32[64x16x7x7], strides=[2, 2], pads=[3, 3, 3, 3])");
  EXPECT_EQ(wide.back(), "bottleneck(4, deepen) -> group(16)");
  EXPECT_TRUE(std::count(wide.begin(), wide.end(), "group(8, expand)"));
  EXPECT_EQ(recipes_of("conv(f32[1x64x8x8], f32[64x32x3x3], groups=2, pads=[1, 1, 1, 1])"),
            std::vector<std::string>{""});
}

TEST(BlockList, BlocksAreNamed) {
  std::set<std::string> meanings;
  for (const LayerVariant& block :
       blocks_of(parse_call("conv(f32[1x32x8x8], f32[32x32x3x3], pads=[1, 1, 1, 1])"))) {
    EXPECT_TRUE(meanings.insert(block.meaning).second) << block.meaning;
  }
  for (const char* name :
       {"grouped x4", "grouped x4, mixed", "grouped x4, deepened", "depthwise, deepened",
        "output bottleneck x2, input bottleneck x2, deepened, reduced",
        "grouped x4, output bottleneck x2, input bottleneck x2, deepened, reduced"}) {
    EXPECT_TRUE(meanings.contains(name)) << name;
  }
}

TEST(BlockList, IsASpaceOfItsOwn) {
  Graph network = load_model("resnet20-cifar", {.size = 8});
  NetworkSpace blocks = block_space(network, {.include = "layer1.[01].conv2"});
  NetworkSpace composed = network_space(network, {.include = "layer1.[01].conv2"});
  EXPECT_EQ(blocks.sites.size(), composed.sites.size());
  EXPECT_EQ(blocks.macs, composed.macs);
  for (size_t s = 0; s < blocks.sites.size(); ++s) {
    EXPECT_EQ(blocks.sites[s].layer, composed.sites[s].layer);
  }
  // Not screened: 16 channels fit these, whatever they score.
  for (const LayerKind& kind : blocks.kinds) {
    EXPECT_EQ(kind.variants.size(), 1U + 3 * 3 + 3 + 2 + 1) << kind.description;
  }
  EXPECT_NEAR(log_size(blocks), 2 * std::log10(16.0), 1e-9);
}

TEST(BlockList, EveryBlockMakesANetworkOfAsManyProducts) {
  Graph network = load_model("resnet20-cifar", {.size = 8});
  NetworkSpace space = block_space(network, {.include = "layer2.0.conv*"});
  for (size_t s = 0; s < space.sites.size(); ++s) {
    for (size_t v = 0; v < space.kinds[space.sites[s].kind].variants.size(); ++v) {
      Assignment assignment(space.sites.size(), 0);
      assignment[s] = v;
      NetworkRecipe recipe = recipe_of(space, assignment);
      SCOPED_TRACE(print(recipe));
      EXPECT_EQ(parse_network_recipe(print(recipe)), recipe);
      long macs = 0;
      for (const Layer& layer : layers_of(transformed(network, recipe))) macs += layer.cost.macs;
      EXPECT_EQ(macs, macs_of(space, assignment));
    }
  }
}

}  // namespace
}  // namespace lathe::test
