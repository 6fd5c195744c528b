// ssd.cpp: a single-shot detector on 300x300 images (Liu et al., "SSD: Single Shot MultiBox
// Detector", 2016) with a ResNet-50 trunk, as in NVIDIA's SSD300 for COCO: the trunk ends after its
// third stage, which keeps stride 1. Outputs are what the heads say of each default box; choosing
// among the boxes is left to the caller.
#include "models/model_residual.h"

namespace lathe::models {
namespace {

constexpr long default_size = 300, least_size = 257;
constexpr long coco_classes = 81;  // with the background
constexpr long box_sides = 4;

/// A feature map: how it is made from the one before, and the boxes at each of its positions.
struct FeatureMap {
  long boxes;
  long inside = 0;  ///< filters of the 1x1 convolution; the trunk makes the first map
  long filters = 0;
  long stride = 1;
  long pad = 0;
};

constexpr FeatureMap maps[] = {{4},
                               {6, 256, 512, 2, 1},
                               {6, 256, 512, 2, 1},
                               {6, 128, 256, 2, 1},
                               {4, 128, 256, 1, 0},
                               {4, 128, 256, 1, 0}};

ValueId add_conv_norm_relu(GraphBuilder& g, const std::string& name, int first, ValueId x,
                           const Conv& conv) {
  x = add_conv(g, fmt::format("{}.{}", name, first), x, conv);
  x = add_batch_norm(g, fmt::format("{}.{}", name, first + 1), x);
  return add_relu(g, fmt::format("{}.{}", name, first + 2), x);
}

/// Adds all feature maps, the finest first.
std::vector<ValueId> add_maps(GraphBuilder& g, ValueId x) {
  const Residual trunk = {
      .block = Block::bottleneck, .depths = {3, 4, 6}, .expansion = 4, .strides = {1, 2, 1}};
  std::vector<ValueId> features = {add_residual_trunk(g, "feature_extractor.", x, trunk)};
  for (size_t i = 1; i < std::size(maps); ++i) {
    const FeatureMap& map = maps[i];
    std::string name = fmt::format("additional_blocks.{}", i - 1);
    ValueId y = add_conv_norm_relu(g, name, 0, features.back(), {.filters = map.inside});
    features.push_back(add_conv_norm_relu(
        g, name, 3, y,
        {.filters = map.filters, .kernel = 3, .stride = map.stride, .pad = map.pad}));
  }
  return features;
}

/// Adds a convolution on each feature map and joins the results: [n, values, boxes of all maps].
ValueId add_heads(GraphBuilder& g, const std::string& name, const std::vector<ValueId>& features,
                  long values) {
  std::vector<ValueId> parts;
  for (size_t i = 0; i < features.size(); ++i) {
    std::string head = fmt::format("{}.{}", name, i);
    Conv conv = {.filters = maps[i].boxes * values, .kernel = 3, .bias = Bias::zeros};
    ValueId x = add_conv(g, head, features[i], conv);
    const Shape& shape = g.shape(x);
    Shape joined = {shape[0], values, maps[i].boxes * shape[2] * shape[3]};
    parts.push_back(g.call("reshape", {x}, {{"shape", joined}}, head + ".reshape"));
  }
  return g.call("concat", parts, {{"axis", 2}}, name + ".concat");
}

Graph build_ssd(const std::string& name, const ModelOptions& options) {
  GraphBuilder g(name);
  std::vector<ValueId> features =
      add_maps(g, add_image(g, name, options, default_size, least_size));
  add_output(g, "boxes", add_heads(g, "loc", features, box_sides));
  add_output(g, "scores", add_heads(g, "conf", features, options.classes.value_or(coco_classes)));
  return g.build();
}

}  // namespace

Model ssd() {
  return {.name = "ssd",
          .variants = {{"ssd_resnet50", "SSD300 for COCO on ResNet-50: boxes and scores"}},
          .build = build_ssd};
}

}  // namespace lathe::models
