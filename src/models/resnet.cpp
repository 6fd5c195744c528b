// resnet.cpp: residual networks (He et al., 2016), as in torchvision. Those for CIFAR differ in the
// stem: a 3x3 convolution with stride 1 and no pooling. The narrow ones are for CIFAR alone: three
// stages of 16, 32 and 64 channels, here with projections where the shape changes.
#include "models/model_residual.h"

namespace lathe::models {
namespace {

struct Depth {
  long layers;
  Block block;
  std::vector<long> blocks;
};

const std::vector<Depth>& depths() {
  static const std::vector<Depth> all = {
      {18, Block::basic, {2, 2, 2, 2}},        {34, Block::basic, {3, 4, 6, 3}},
      {50, Block::bottleneck, {3, 4, 6, 3}},   {101, Block::bottleneck, {3, 4, 23, 3}},
      {152, Block::bottleneck, {3, 8, 36, 3}}, {20, Block::basic, {3, 3, 3}},
      {32, Block::basic, {5, 5, 5}},           {56, Block::basic, {9, 9, 9}},
      {110, Block::basic, {18, 18, 18}}};
  return all;
}

bool is_narrow(const Depth& depth) { return depth.blocks.size() == 3; }

std::string name_of(const Depth& depth) { return fmt::format("resnet{}", depth.layers); }

Graph build_resnet(const std::string& name, const ModelOptions& options) {
  const Depth& depth = find_named(depths(), without_images(name));
  Residual net = {.block = depth.block,
                  .depths = depth.blocks,
                  .stem = images_of(name) == Images::cifar ? Stem::cifar : Stem::imagenet,
                  .expansion = depth.block == Block::bottleneck ? 4 : 1};
  if (is_narrow(depth)) {
    net.width = 16;
    net.strides = {1, 2, 2};
  }
  return residual_classifier(name, net, options);
}

}  // namespace

Model resnet() {
  Model model = {.name = "resnet", .variants = {}, .build = build_resnet};
  for (const Depth& depth : depths()) {
    std::string name = name_of(depth);
    if (is_narrow(depth)) {
      model.variants.push_back(
          {name + "-cifar", fmt::format("ResNet-{} for CIFAR: 16 to 64 channels", depth.layers)});
      continue;
    }
    model.variants.push_back({name, fmt::format("ResNet-{} for ImageNet", depth.layers)});
    model.variants.push_back(
        {name + "-cifar", fmt::format("ResNet-{} for CIFAR: 3x3 stem, no pooling", depth.layers)});
  }
  return model;
}

}  // namespace lathe::models
