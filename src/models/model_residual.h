// Residual networks: stages of blocks, each of which adds to its input. ResNet, ResNeXt and the
// trunk of SSD are instances.
#pragma once

#include <string>
#include <vector>

#include "models/model_layers.h"

namespace lathe::models {

/// What comes before the first stage.
enum class Stem {
  imagenet,   ///< a 7x7 convolution with stride 2 and a max pooling: a quarter of rows and columns
  cifar,      ///< a 3x3 convolution
  pointwise,  ///< a 1x1 convolution
};

/// What the blocks consist of: two 3x3 convolutions, or a 3x3 between two 1x1.
enum class Block { basic, bottleneck };

struct Residual {
  Block block = Block::basic;
  std::vector<long> depths = {};  ///< blocks of each stage
  Stem stem = Stem::imagenet;
  long width = 64;     ///< channels of the first stage's 3x3 convolutions; each stage doubles them
  long expansion = 1;  ///< channels between blocks, by the width
  long groups = 1;     ///< of the 3x3 convolutions
  std::vector<long> strides = {1, 2, 2, 2};  ///< of each stage
};

/// Adds the stem and the stages; names begin with "prefix".
ValueId add_residual_trunk(GraphBuilder& g, const std::string& prefix, ValueId x,
                           const Residual& net);

/// Returns the network that classifies images: 224x224 of 1000 classes, or for CIFAR-10 if the stem
/// is not ImageNet's.
Graph residual_classifier(const std::string& name, const Residual& net,
                          const ModelOptions& options);

}  // namespace lathe::models
