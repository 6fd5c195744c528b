// densenet.cpp: networks whose layers read all earlier layers of their block (Huang et al.,
// "Densely Connected Convolutional Networks", 2017), as in torchvision. Those for CIFAR have a stem
// of one 3x3 convolution, as in kuangliu's pytorch-cifar.
#include "models/model_layers.h"

namespace lathe::models {
namespace {

struct Dense {
  long layers;
  long growth;               ///< channels that a layer adds
  std::vector<long> blocks;  ///< layers of each block
};

constexpr long bottleneck = 4;  // a layer's 1x1 convolution makes so many times the growth

const std::vector<Dense>& networks() {
  static const std::vector<Dense> all = {{121, 32, {6, 12, 24, 16}},
                                         {161, 48, {6, 12, 36, 24}},
                                         {169, 32, {6, 12, 32, 32}},
                                         {201, 32, {6, 12, 48, 32}}};
  return all;
}

std::string name_of(const Dense& net) { return fmt::format("densenet{}", net.layers); }

ValueId add_stem(GraphBuilder& g, ValueId x, long filters, Images images) {
  if (images == Images::cifar) {
    return add_conv(g, "features.conv0", x, {.filters = filters, .kernel = 3});
  }
  x = add_conv(g, "features.conv0", x, {.filters = filters, .kernel = 7, .stride = 2});
  x = add_batch_norm(g, "features.norm0", x);
  x = add_relu(g, "features.relu0", x);
  return add_max_pool(g, "features.pool0", x, {.kernel = 3, .stride = 2, .pad = 1});
}

ValueId add_layer(GraphBuilder& g, const std::string& name, ValueId x, long growth) {
  ValueId y = add_batch_norm(g, name + ".norm1", x);
  y = add_relu(g, name + ".relu1", y);
  y = add_conv(g, name + ".conv1", y, {.filters = bottleneck * growth});
  y = add_batch_norm(g, name + ".norm2", y);
  y = add_relu(g, name + ".relu2", y);
  y = add_conv(g, name + ".conv2", y, {.filters = growth, .kernel = 3});
  return g.call("concat", {x, y}, {{"axis", 1}}, name + ".concat");
}

/// Adds what stands between two blocks: half the channels, half the rows and columns.
ValueId add_transition(GraphBuilder& g, const std::string& name, ValueId x) {
  long filters = g.shape(x)[1] / 2;
  x = add_batch_norm(g, name + ".norm", x);
  x = add_relu(g, name + ".relu", x);
  x = add_conv(g, name + ".conv", x, {.filters = filters});
  return add_avg_pool(g, name + ".pool", x, {.kernel = 2, .stride = 2});
}

Graph build_densenet(const std::string& name, const ModelOptions& options) {
  const Dense& net = find_named(networks(), without_images(name));
  Images images = images_of(name);
  GraphBuilder g(name);
  ValueId x = add_image(g, name, options, size_of(images), images == Images::cifar ? 8 : 29);
  x = add_stem(g, x, 2 * net.growth, images);
  for (size_t block = 0; block < net.blocks.size(); ++block) {
    if (block > 0) x = add_transition(g, fmt::format("features.transition{}", block), x);
    for (long i = 1; i <= net.blocks[block]; ++i) {
      std::string layer = fmt::format("features.denseblock{}.denselayer{}", block + 1, i);
      x = add_layer(g, layer, x, net.growth);
    }
  }
  x = add_batch_norm(g, "features.norm5", x);
  x = add_relu(g, "relu", x);
  return finish_classifier(g, "classifier", x, options.classes.value_or(classes_of(images)));
}

}  // namespace

Model densenet() {
  Model model = {.name = "densenet", .variants = {}, .build = build_densenet};
  for (const Dense& net : networks()) {
    std::string name = name_of(net);
    model.variants.push_back({name, fmt::format("DenseNet-{} for ImageNet", net.layers)});
    model.variants.push_back(
        {name + "-cifar", fmt::format("DenseNet-{} for CIFAR: 3x3 stem, no pooling", net.layers)});
  }
  return model;
}

}  // namespace lathe::models
