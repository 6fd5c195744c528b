// mobilenet_v2.cpp: inverted residuals (Sandler et al., "MobileNetV2: Inverted Residuals and Linear
// Bottlenecks", 2018), as in torchvision. The one for CIFAR has stride 1 in the stem and in the
// second stage.
#include "models/model_layers.h"

namespace lathe::models {
namespace {

struct Stage {
  long expansion;  ///< channels inside a block, by those of its input
  long filters;
  long blocks;
  long stride;
};

constexpr Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                            {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
constexpr long stem_filters = 32, last_filters = 1280;
constexpr size_t second_stage = 1;

/// Adds a convolution, its normalisation and a ReLU that ends at 6: name.0, name.1, name.2.
ValueId add_conv_relu6(GraphBuilder& g, const std::string& name, ValueId x, const Conv& conv) {
  x = add_conv(g, name + ".0", x, conv);
  x = add_batch_norm(g, name + ".1", x);
  return g.call("clip", {x}, {{"min", 0.0}, {"max", 6.0}}, name + ".2");
}

ValueId add_block(GraphBuilder& g, const std::string& name, ValueId x, const Stage& stage,
                  long stride) {
  long in = g.shape(x)[1], inside = in * stage.expansion;
  int layer = 0;
  auto path = [&] { return fmt::format("{}.conv.{}", name, layer++); };
  ValueId y = x;
  if (stage.expansion != 1) y = add_conv_relu6(g, path(), y, {.filters = inside});
  Conv depthwise = {.filters = inside, .kernel = 3, .stride = stride, .groups = inside};
  y = add_conv_relu6(g, path(), y, depthwise);
  y = add_conv(g, path(), y, {.filters = stage.filters});
  y = add_batch_norm(g, path(), y);
  if (stride != 1 || in != stage.filters) return y;
  return g.call("add", {x, y}, {}, name + ".add");
}

Graph build_mobilenet_v2(const std::string& name, const ModelOptions& options) {
  Images images = images_of(name);
  bool cifar = images == Images::cifar;
  GraphBuilder g(name);
  ValueId x = add_image(g, name, options, size_of(images), 1);
  Conv stem = {.filters = stem_filters, .kernel = 3, .stride = cifar ? 1 : 2};
  x = add_conv_relu6(g, "features.0", x, stem);
  int layer = 1;
  for (size_t s = 0; s < std::size(stages); ++s) {
    long first = cifar && s == second_stage ? 1 : stages[s].stride;
    for (long i = 0; i < stages[s].blocks; ++i) {
      x = add_block(g, fmt::format("features.{}", layer++), x, stages[s], i == 0 ? first : 1);
    }
  }
  x = add_conv_relu6(g, fmt::format("features.{}", layer), x, {.filters = last_filters});
  return finish_classifier(g, "classifier.1", x, options.classes.value_or(classes_of(images)));
}

}  // namespace

Model mobilenet_v2() {
  return {.name = "mobilenet_v2",
          .variants = {{"mobilenet_v2", "MobileNetV2 for ImageNet"},
                       {"mobilenet_v2-cifar", "MobileNetV2 for CIFAR: two strides less"}},
          .build = build_mobilenet_v2};
}

}  // namespace lathe::models
