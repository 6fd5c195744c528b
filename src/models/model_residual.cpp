// model_residual.cpp: residual networks, after He et al., "Deep Residual Learning for Image
// Recognition" (2016), as torchvision builds them: a block's stride is that of its 3x3 convolution.
// Interface: model_residual.h.
#include "models/model_residual.h"

namespace lathe::models {
namespace {

constexpr long stem_filters = 64;

ValueId add_stem(GraphBuilder& g, const std::string& prefix, ValueId x, Stem stem) {
  Conv conv = {.filters = stem_filters};
  if (stem == Stem::cifar) conv.kernel = 3;
  if (stem == Stem::imagenet) conv.kernel = 7, conv.stride = 2;
  x = add_conv(g, prefix + "conv1", x, conv);
  x = add_batch_norm(g, prefix + "bn1", x);
  x = add_relu(g, prefix + "relu", x);
  if (stem != Stem::imagenet) return x;
  return add_max_pool(g, prefix + "maxpool", x, {.kernel = 3, .stride = 2, .pad = 1});
}

/// Returns the convolutions of a block, in order.
std::vector<Conv> convolutions(const Residual& net, long width, long stride) {
  long out = width * net.expansion;
  Conv first = {.filters = width, .kernel = 3, .stride = stride, .groups = net.groups};
  if (net.block == Block::basic) return {first, {.filters = out, .kernel = 3}};
  return {{.filters = width}, first, {.filters = out}};
}

/// Adds the way around a block: nothing, or a 1x1 convolution where the shape changes.
ValueId add_shortcut(GraphBuilder& g, const std::string& name, ValueId x, long filters,
                     long stride) {
  if (stride == 1 && g.shape(x)[1] == filters) return x;
  x = add_conv(g, name + ".downsample.0", x, {.filters = filters, .stride = stride});
  return add_batch_norm(g, name + ".downsample.1", x);
}

ValueId add_block(GraphBuilder& g, const std::string& name, ValueId x, const Residual& net,
                  long width, long stride) {
  std::vector<Conv> convs = convolutions(net, width, stride);
  ValueId y = x;
  for (size_t i = 0; i < convs.size(); ++i) {
    if (i > 0) y = add_relu(g, fmt::format("{}.relu{}", name, i), y);
    y = add_conv(g, fmt::format("{}.conv{}", name, i + 1), y, convs[i]);
    y = add_batch_norm(g, fmt::format("{}.bn{}", name, i + 1), y);
  }
  x = add_shortcut(g, name, x, width * net.expansion, stride);
  y = g.call("add", {y, x}, {}, name + ".add");
  return add_relu(g, fmt::format("{}.relu{}", name, convs.size()), y);
}

}  // namespace

ValueId add_residual_trunk(GraphBuilder& g, const std::string& prefix, ValueId x,
                           const Residual& net) {
  x = add_stem(g, prefix, x, net.stem);
  for (size_t stage = 0; stage < net.depths.size(); ++stage) {
    for (long i = 0; i < net.depths[stage]; ++i) {
      x = add_block(g, fmt::format("{}layer{}.{}", prefix, stage + 1, i), x, net,
                    net.width << stage, i == 0 ? net.strides[stage] : 1);
    }
  }
  return x;
}

Graph residual_classifier(const std::string& name, const Residual& net,
                          const ModelOptions& options) {
  Images images = net.stem == Stem::imagenet ? Images::imagenet : Images::cifar;
  GraphBuilder g(name);
  ValueId x = add_image(g, name, options, size_of(images), 1);
  x = add_residual_trunk(g, "", x, net);
  return finish_classifier(g, "fc", x, options.classes.value_or(classes_of(images)));
}

}  // namespace lathe::models
