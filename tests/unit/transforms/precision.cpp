// What recipes say of the precision of layers: transforms/transform_precision.h.
#include "transforms/transform_precision.h"

#include <gtest/gtest.h>

#include "models/model.h"

namespace lathe::test {
namespace {

TEST(LayerPrecision, IsAStep) {
  EXPECT_FALSE(step_for(Precision::f32).has_value());
  for (Precision each : {Precision::f16, Precision::bf16, Precision::int8}) {
    EXPECT_EQ(precision_of(*step_for(each)), each);
    Recipe group{{"group", {2L}}};
    Recipe both = with_precision(group, each);
    EXPECT_EQ(precision_of(both), each);
    EXPECT_EQ(without_precision(both), group);
    EXPECT_EQ(with_precision(both, Precision::f32), group);
  }
  EXPECT_FALSE(precision_of(Step{"cast", {}}).has_value());
}

TEST(LayerPrecision, TheLastRecipeCounts) {
  Graph network = load_model("resnet20-cifar");
  NetworkRecipe recipe = parse_network_recipe(
      "layer1.*: cast(f16)\n"
      "layer1.0.conv1: group(2) -> cast(bf16)\n");
  LayerPrecisions found = precisions_in(network, recipe, Precision::int8);
  EXPECT_EQ(found.of("layer1.0.conv1"), Precision::bf16);
  EXPECT_EQ(found.of("layer1.0.conv1.0"), Precision::bf16) << "a part of the layer";
  EXPECT_EQ(found.of("layer1.0.conv2"), Precision::f16);
  EXPECT_EQ(found.of("layer2.0.conv2"), Precision::int8);
  EXPECT_EQ(found.of("relu"), Precision::int8);
  EXPECT_FALSE(found.are_all(Precision::int8));
  EXPECT_TRUE(precisions_in(network, {}, Precision::f16).are_all(Precision::f16));
  EXPECT_EQ(print(without_precisions(recipe)), "layer1.0.conv1: group(2)\n");
}

TEST(LayerPrecision, IsNoPartOfWhatIsTrained) {
  Graph network = load_model("resnet20-cifar");
  auto made = [&](const char* recipe) {
    return structural_hash(transformed(network, parse_network_recipe(recipe)));
  };
  EXPECT_EQ(made("layer1.*: cast(f16)\n"), structural_hash(network));
  EXPECT_EQ(made("layer1.*: group(2) -> cast(f16)\n"), made("layer1.*: group(2)\n"));
}

}  // namespace
}  // namespace lathe::test
