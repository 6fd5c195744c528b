// vgg.cpp: plain stacks of 3x3 convolutions (Simonyan and Zisserman, "Very Deep Convolutional
// Networks for Large-Scale Image Recognition", 2015), as in torchvision, without dropout. Those for
// CIFAR normalise after each convolution and classify with one layer, as in kuangliu's
// pytorch-cifar.
#include "models/model_layers.h"

namespace lathe::models {
namespace {

struct Stack {
  long layers;
  std::vector<long> stages;  ///< convolutions of each stage
};

constexpr long stage_filters[] = {64, 128, 256, 512, 512};
constexpr long hidden = 4096;      // width of the classifier
constexpr long grid = 7;           // rows and columns that the classifier reads
constexpr long total_stride = 32;  // of the five poolings

const std::vector<Stack>& networks() {
  static const std::vector<Stack> all = {
      {11, {1, 1, 2, 2, 2}}, {13, {2, 2, 2, 2, 2}}, {16, {2, 2, 3, 3, 3}}, {19, {2, 2, 4, 4, 4}}};
  return all;
}

std::string name_of(const Stack& net) { return fmt::format("vgg{}", net.layers); }

ValueId add_features(GraphBuilder& g, ValueId x, const Stack& net, Images images) {
  int layer = 0;
  auto path = [&] { return fmt::format("features.{}", layer++); };
  for (size_t stage = 0; stage < net.stages.size(); ++stage) {
    for (long i = 0; i < net.stages[stage]; ++i) {
      x = add_conv(g, path(), x,
                   {.filters = stage_filters[stage], .kernel = 3, .bias = Bias::zeros});
      if (images == Images::cifar) x = add_batch_norm(g, path(), x);
      x = add_relu(g, path(), x);
    }
    x = add_max_pool(g, path(), x, {.kernel = 2, .stride = 2});
  }
  return x;
}

/// Adds the three layers that classify; a larger image's features are averaged to the same grid.
Graph finish_wide(GraphBuilder& g, ValueId x, long classes) {
  long rows = g.shape(x)[2];
  if (rows > grid) {
    x = add_avg_pool(g, "avgpool", x, {.kernel = rows / grid, .stride = rows / grid});
  }
  x = add_flatten(g, "flatten", x);
  x = add_relu(g, "classifier.1", add_linear(g, "classifier.0", x, hidden));
  x = add_relu(g, "classifier.4", add_linear(g, "classifier.3", x, hidden));
  add_output(g, "output", add_linear(g, "classifier.6", x, classes));
  return g.build();
}

Graph build_vgg(const std::string& name, const ModelOptions& options) {
  Images images = images_of(name);
  const Stack& net = find_named(networks(), without_images(name));
  bool cifar = images == Images::cifar;
  long least = total_stride * (cifar ? 1 : grid);
  GraphBuilder g(name);
  ValueId x = add_image(g, name, options, size_of(images), least);
  if (long size = g.shape(x)[2]; !cifar && size % least != 0) {
    fail("{}: the size of its images is a multiple of {}, not {}", name, least, size);
  }
  x = add_features(g, x, net, images);
  long classes = options.classes.value_or(classes_of(images));
  return cifar ? finish_classifier(g, "classifier", x, classes) : finish_wide(g, x, classes);
}

}  // namespace

Model vgg() {
  Model model = {.name = "vgg", .variants = {}, .build = build_vgg};
  for (const Stack& net : networks()) {
    std::string name = name_of(net);
    model.variants.push_back({name, fmt::format("VGG-{} for ImageNet", net.layers)});
    model.variants.push_back(
        {name + "-cifar", fmt::format("VGG-{} for CIFAR, with normalisation", net.layers)});
  }
  return model;
}

}  // namespace lathe::models
