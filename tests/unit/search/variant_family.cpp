// Families of variants: told from meanings, and there for all layers of networks whose sizes
// divide.
#include "search/variant_family.h"

#include <gtest/gtest.h>

#include <set>

#include "legality/legality.h"
#include "models/model.h"
#include "program/layers.h"
#include "search/layer_variants.h"
#include "support/random_case.h"
#include "transforms/transform_network.h"

namespace lathe::test {
namespace {

std::string family_after(const std::string& recipe) {
  Context context;
  Nest nest = parse_op(context, "conv(co=16, ci=16, oh=8, ow=8, k=3, pad=1)");
  return name_of(family_of(nest, replay(nest, parse_recipe(recipe))));
}

TEST(Families, AreToldFromMeanings) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "as it was"},
      {"interchange(co, ci) -> split(oh, 4)", "as it was"},
      {"group(4)", "grouped"},
      {"group(4) -> interchange(g, ci)", "grouped"},
      {"split(ci, 4) -> interchange(ci.o, ci.i) -> group(4)", "shuffled"},
      {"split(ci, 8) -> interchange(ci.o, ci.i) -> group(2)", "shuffled"},
      {"group(16)", "depthwise"},
      {"group(16, deepen)", "depthwise"},
      {"interchange(co, ci) -> bottleneck(2)", "reads"},
      {"split(ci, 2) -> interchange(co, ci.i) -> bottleneck(2)", "reads"},
      {"bottleneck(4, repeat)", "repeated"},
      {"bottleneck(4, expand)", "expanded"},
      {"bottleneck(4, deepen)", "expanded"},
      {"group(4, expand)", "expanded"},
      {"bottleneck(2, deepen) -> group(4)", "grouped-bottleneck"},
      {"interchange(co, ci) -> bottleneck(2) -> interchange(ci, co) -> group(2)",
       "grouped-bottleneck"},
      {"interchange(co, oh) -> bottleneck(2, repeat)", "spatial"},
      {"group(2) -> interchange(g, oh) -> bottleneck(2, repeat)", "grouped-spatial"},
      {"interchange(co, oh) -> group(2)", "stripes"},
      {"split(oh, 4) -> interchange(co, oh.o) -> group(2) -> interchange(ci, oh.i) -> "
       "fuse(g, oh.i, oh)",
       "stripes"},
      {"unroll(co, 4) -> group(2)", "parts"},
      {"split_range(co, 1/2) -> group(2) -> interchange(co.0, co.1) -> group(4)", "parts"},
      {"interchange(co, kh) -> bottleneck(3)", "window"},
  };
  for (auto [recipe, family] : cases) EXPECT_EQ(family_after(recipe), family) << recipe;
}

TEST(Families, AreChosenByName) {
  FamilyChoice some{{"grouped", "shuffled"}, {}}, without{{}, {"shuffled"}};
  EXPECT_TRUE(some.has(Family::same) && some.has(Family::grouped) && !some.has(Family::reads));
  EXPECT_TRUE(without.has(Family::reads) && !without.has(Family::shuffled));
  EXPECT_NO_THROW(check_families(some));
  EXPECT_THROW(check_families({{"grouped", "groups"}, {}}), UserError);
  EXPECT_THROW(check_families({{"grouped"}, {"grouped"}}), UserError);
}

/// What a layer's sizes allow.
struct Sizes {
  long filters, channels, groups, rows, window;
};

Sizes sizes_of(const Call& call, const Shape& output) {
  long groups = call.integer("groups");
  return {call.shape(1)[0] / groups, call.shape(1)[1], groups, output[2], call.shape(1)[2]};
}

/// Returns the families that fit a layer, as far as powers of two divide it.
std::set<Family> fitting(const Sizes& s) {
  std::set<Family> all;
  bool filters = s.filters % 4 == 0, channels = s.channels % 4 == 0;
  bool any_filters = s.filters * s.groups % 4 == 0;
  if (filters && channels) {
    all.insert({Family::grouped, Family::shuffled, Family::parts, Family::grouped_bottleneck});
  }
  if (channels) all.insert(Family::reads);
  if (any_filters) all.insert(Family::repeated);
  if (filters && s.groups == 1 && s.window > 1) all.insert(Family::expanded);
  if (s.filters == s.channels && s.channels > 1 && s.groups == 1) all.insert(Family::depthwise);
  if (s.rows % 2 == 0) all.insert(Family::spatial);
  if (s.rows % 2 == 0 && filters && channels) all.insert(Family::grouped_spatial);
  if (s.rows % 2 == 0 && channels) all.insert(Family::stripes);
  if (s.window == 3 && s.rows > 1) all.insert(Family::window);  // of one position: no window slides
  return all;
}

/// Expects that kinds of layers have the families that fit them. One kind in so many is looked at:
/// a network can have a hundred. LATHE_EVERY=1 looks at all of them, which takes minutes.
void expect_families(const std::string& model, long size, long otherwise) {
  auto every = static_cast<size_t>(environment("LATHE_EVERY", otherwise));
  Graph network = size == 0 ? load_model(model) : load_model(model, {.size = size});
  std::vector<Layer> layers = layers_of(network);
  std::set<std::string> seen;
  for (size_t n : changeable_layers(network, {.pointwise = true})) {
    if (!seen.insert(layers[n].key).second || seen.size() % every != 0) continue;
    SCOPED_TRACE(model + " " + layers[n].name + ": " + layers[n].description);
    Call call = call_of(network, network.nodes[n]);
    std::set<Family> found;
    for (const LayerVariant& variant : variants_of(call, {.factor = 4})) {
      found.insert(variant.family);
    }
    const Shape& output = network.values[network.nodes[n].outputs.front()].type.shape;
    for (Family family : fitting(sizes_of(call, output))) {
      EXPECT_TRUE(found.contains(family)) << name_of(family);
    }
  }
}

TEST(Families, OfResNet34) { expect_families("resnet34-cifar", 16, 4); }
TEST(Families, OfResNeXt29) { expect_families("resnext29_32x4d", 16, 4); }
TEST(Families, OfDenseNet161) { expect_families("densenet161-cifar", 16, 32); }
TEST(Families, OfMobileNetV2) { expect_families("mobilenet_v2-cifar", 16, 8); }
TEST(Families, OfSsdResNet50) { expect_families("ssd_resnet50", 0, 16); }

}  // namespace
}  // namespace lathe::test
