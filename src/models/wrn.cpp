// wrn.cpp: wide residual networks for CIFAR (Zagoruyko and Komodakis, "Wide Residual Networks",
// 2016). Blocks normalise before they convolve; layers are named as in xternalz'
// WideResNet-pytorch.
#include "models/model_layers.h"

namespace lathe::models {
namespace {

struct Wide {
  long layers;
  long factor;  ///< by which the network is wider than a ResNet
};

constexpr Wide networks[] = {{16, 8}, {28, 10}, {40, 2}};
constexpr long stem_filters = 16;
constexpr int stages = 3;

std::string name_of(const Wide& net) { return fmt::format("wrn{}_{}", net.layers, net.factor); }

/// Adds a block. Where the shape changes, the way around it begins after the first activation.
ValueId add_block(GraphBuilder& g, const std::string& name, ValueId x, long filters, long stride) {
  bool same = g.shape(x)[1] == filters && stride == 1;
  ValueId y = add_batch_norm(g, name + ".bn1", x);
  y = add_relu(g, name + ".relu1", y);
  if (!same) {
    x = add_conv(g, name + ".convShortcut", y, {.filters = filters, .stride = stride});
  }
  y = add_conv(g, name + ".conv1", y, {.filters = filters, .kernel = 3, .stride = stride});
  y = add_batch_norm(g, name + ".bn2", y);
  y = add_relu(g, name + ".relu2", y);
  y = add_conv(g, name + ".conv2", y, {.filters = filters, .kernel = 3});
  return g.call("add", {x, y}, {}, name + ".add");
}

Graph build_wrn(const std::string& name, const ModelOptions& options) {
  const Wide& net = find_named(networks, name);
  GraphBuilder g(name);
  ValueId x = add_image(g, name, options, size_of(Images::cifar), 1);
  x = add_conv(g, "conv1", x, {.filters = stem_filters, .kernel = 3});
  long blocks = (net.layers - 4) / (2 * stages);
  for (int stage = 0; stage < stages; ++stage) {
    for (long i = 0; i < blocks; ++i) {
      x = add_block(g, fmt::format("block{}.layer.{}", stage + 1, i), x,
                    (stem_filters * net.factor) << stage, stage > 0 && i == 0 ? 2 : 1);
    }
  }
  x = add_batch_norm(g, "bn1", x);
  x = add_relu(g, "relu", x);
  return finish_classifier(g, "fc", x, options.classes.value_or(classes_of(Images::cifar)));
}

}  // namespace

Model wrn() {
  Model model = {.name = "wrn", .variants = {}, .build = build_wrn};
  for (const Wide& net : networks) {
    model.variants.push_back(
        {name_of(net), fmt::format("WRN-{}-{} for CIFAR", net.layers, net.factor)});
  }
  return model;
}

}  // namespace lathe::models
