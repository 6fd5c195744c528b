// resnext.cpp: residual networks with grouped convolutions (Xie et al., "Aggregated Residual
// Transformations for Deep Neural Networks", 2017). resnext50_32x4d is torchvision's. The 29-layer
// networks for CIFAR are those of kuangliu's pytorch-cifar: a 1x1 stem, three stages, blocks that
// are twice as wide outside as inside; layers are named as in torchvision.
#include "models/model_residual.h"

namespace lathe::models {
namespace {

Residual for_cifar(long groups, long group_width) {
  return {.block = Block::bottleneck,
          .depths = {3, 3, 3},
          .stem = Stem::pointwise,
          .width = groups * group_width,
          .expansion = 2,
          .groups = groups};
}

Residual describe(const std::string& name) {
  if (name == "resnext29_2x64d") return for_cifar(2, 64);
  if (name == "resnext29_4x64d") return for_cifar(4, 64);
  if (name == "resnext29_32x4d") return for_cifar(32, 4);
  return {.block = Block::bottleneck,
          .depths = {3, 4, 6, 3},
          .stem = Stem::imagenet,
          .width = 128,
          .expansion = 2,
          .groups = 32};
}

Graph build_resnext(const std::string& name, const ModelOptions& options) {
  return residual_classifier(name, describe(name), options);
}

}  // namespace

Model resnext() {
  return {.name = "resnext",
          .variants = {{"resnext29_2x64d", "ResNeXt-29 for CIFAR, 2 groups of 64 channels"},
                       {"resnext29_4x64d", "ResNeXt-29 for CIFAR, 4 groups of 64 channels"},
                       {"resnext29_32x4d", "ResNeXt-29 for CIFAR, 32 groups of 4 channels"},
                       {"resnext50_32x4d", "ResNeXt-50 for ImageNet, 32 groups of 4 channels"}},
          .build = build_resnext};
}

}  // namespace lathe::models
