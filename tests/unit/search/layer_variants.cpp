// What a layer can become, in a network: valid, and less work. What it must be able to become is in
// layer_meanings.cpp.
#include "search/layer_variants.h"

#include <gtest/gtest.h>

#include <set>

#include "models/model.h"
#include "program/layers.h"
#include "search/network_space.h"
#include "transforms/transform_network.h"

namespace lathe::test {
namespace {

Graph small_network() { return load_model("resnet20-cifar", {.size = 8}); }

const NetworkSpace& space() {
  static const NetworkSpace result = network_space(small_network(), {.include = "layer1.0.conv*"});
  return result;
}

TEST(LayerVariants, BeginWithTheLayerItself) {
  for (const LayerKind& kind : space().kinds) {
    EXPECT_TRUE(kind.variants.front().recipe.empty());
    EXPECT_GT(kind.variants.size(), 20U);
  }
}

TEST(LayerVariants, ComputeLessAndDiffer) {
  for (const LayerKind& kind : space().kinds) {
    std::set<std::string> recipes;
    for (size_t v = 1; v < kind.variants.size(); ++v) {
      EXPECT_LT(kind.variants[v].macs, kind.variants[0].macs) << print(kind.variants[v].recipe);
      EXPECT_TRUE(recipes.insert(print(kind.variants[v].recipe)).second);
    }
  }
}

TEST(LayerVariants, AllMakeANetwork) {
  Graph network = small_network();
  const NetworkSpace& all = space();
  for (size_t s = 0; s < all.sites.size(); ++s) {
    for (size_t v = 0; v < all.kinds[all.sites[s].kind].variants.size(); ++v) {
      Assignment assignment(all.sites.size(), 0);
      assignment[s] = v;
      NetworkRecipe recipe = recipe_of(all, assignment);
      SCOPED_TRACE(print(recipe));
      Graph changed = transformed(network, recipe);
      EXPECT_EQ(changed.outputs.size(), network.outputs.size());
    }
  }
}

TEST(LayerVariants, LinkedLayersShrinkTogether) {
  Graph network = small_network();
  NetworkSpace linked = with_links(space(), network);
  ASSERT_EQ(linked.links.size(), 1U);  // the channels between the two; others read what conv2 makes
  EXPECT_EQ(linked.links[0].makers, std::vector<size_t>{0});
  EXPECT_EQ(linked.links[0].readers, std::vector<size_t>{1});
  for (size_t nth : {0, 1, 2}) {
    Assignment assignment(2, 0);
    shrink(linked, linked.links, nth, assignment);
    ASSERT_TRUE(agrees(linked, assignment));
    EXPECT_FALSE(agrees(linked, {assignment[0], 0}));
    EXPECT_TRUE(is_possible(linked, 0, assignment[0]));
    Graph changed = transformed(network, recipe_of(linked, assignment));
    long macs = 0, weights = 0;
    for (const Layer& layer : layers_of(changed)) {
      macs += layer.cost.macs;
      weights += layer.weights;
    }
    // The tables count what convolutions have; a normalisation between them has fewer, too.
    EXPECT_EQ(macs_of(linked, assignment), macs);
    EXPECT_EQ(weights_of(linked, assignment) - weights, 2 * 8);
  }
}

TEST(LayerVariants, HaveSeveralNeuralSteps) {
  size_t composed = 0;
  for (const LayerKind& kind : space().kinds) {
    for (const LayerVariant& variant : kind.variants) {
      auto neural = std::count_if(variant.recipe.begin(), variant.recipe.end(), [](const Step& s) {
        return s.name == "group" || s.name == "bottleneck";
      });
      composed += neural > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(composed, 5U);
}

TEST(NetworkSpace, SpreadsAFewVariants) {
  NetworkSpace few = network_space(small_network(), {.include = "layer1.0.conv*", .most = 6});
  for (const LayerKind& kind : few.kinds) EXPECT_EQ(kind.variants.size(), 6U);
  Assignment dense(few.sites.size(), 0);
  EXPECT_EQ(macs_of(few, dense), few.macs);
  EXPECT_TRUE(recipe_of(few, dense).empty());
  EXPECT_THROW(network_space(small_network(), {.include = "nothing"}), UserError);
}

TEST(NetworkSpace, NarrowsToWhatRanksLow) {
  double infinity = std::numeric_limits<double>::infinity();
  NetworkSpace few = narrowed(space(), 5, [&](size_t kind, size_t v) {
    const LayerVariant& variant = space().kinds[kind].variants[v];
    bool grouped = variant.recipe.size() == 1 && variant.recipe[0].name == "group";
    return grouped ? 0 : infinity;
  });
  for (const LayerKind& kind : few.kinds) {
    EXPECT_TRUE(kind.variants[0].recipe.empty());
    ASSERT_GT(kind.variants.size(), 1U);
    EXPECT_LE(kind.variants.size(), 5U);
    for (size_t v = 1; v < kind.variants.size(); ++v) {
      EXPECT_EQ(kind.variants[v].recipe[0].name, "group");
      EXPECT_GE(16 * kind.variants[v].macs, kind.variants[0].macs / 2);
    }
  }
}

}  // namespace
}  // namespace lathe::test
