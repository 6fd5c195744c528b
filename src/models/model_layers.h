// The layers that the built-in networks are made of. A layer's name is its path in PyTorch: its
// node is named so, and its weights are named from there ("layer1.0.conv1.weight").
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "models/model.h"
#include "ops/op_graph.h"

namespace lathe::models {

/// Returns the line of a family's table whose name_of() is the given one.
template <class Table>
const auto& find_named(const Table& table, const std::string& name) {
  auto found = std::find_if(std::begin(table), std::end(table),
                            [&](const auto& line) { return name_of(line) == name; });
  check(found != std::end(table), "a family builds only the variants that it lists");
  return *found;
}

/// The images that a network is made for: 224x224 of 1000 classes, or 32x32 of 10.
enum class Images { imagenet, cifar };

/// Return the number of rows (and columns) of the images, and of their classes.
long size_of(Images images);
long classes_of(Images images);

/// Returns what a network is made for: "resnet34-cifar" for CIFAR, others for ImageNet.
Images images_of(const std::string& name);

/// Returns the name without "-cifar".
std::string without_images(const std::string& name);

enum class Bias { none, zeros };

/// A convolution with a square kernel.
struct Conv {
  long filters = 1;
  long kernel = 1;
  long stride = 1;
  long groups = 1;
  std::optional<long> pad = std::nullopt;  ///< half the kernel where left out
  Bias bias = Bias::none;
};

/// A pooling with a square window.
struct Pool {
  long kernel = 1;
  long stride = 1;
  long pad = 0;
};

/// Adds the input "input" of RGB images. The options give their size, or else the network does.
/// Fails, and names the network, if they are smaller than it can take.
ValueId add_image(GraphBuilder& g, const std::string& network, const ModelOptions& options,
                  long size, long least);

/// Adds a layer to a graph and returns its output.
ValueId add_conv(GraphBuilder& g, const std::string& name, ValueId x, const Conv& conv);
ValueId add_batch_norm(GraphBuilder& g, const std::string& name, ValueId x);
ValueId add_max_pool(GraphBuilder& g, const std::string& name, ValueId x, const Pool& pool);
ValueId add_avg_pool(GraphBuilder& g, const std::string& name, ValueId x, const Pool& pool);
ValueId add_relu(GraphBuilder& g, const std::string& name, ValueId x);

/// Adds a fully connected layer; its weights begin as "weight" says, or else as in PyTorch.
ValueId add_linear(GraphBuilder& g, const std::string& name, ValueId x, long outputs,
                   const std::optional<Initial>& weight = std::nullopt);

/// Adds a reshape to [n, everything else].
ValueId add_flatten(GraphBuilder& g, const std::string& name, ValueId x);

/// Makes a value an output of the graph under a name of its own.
void add_output(GraphBuilder& g, const std::string& name, ValueId value);

/// Ends a network: the mean of each channel, a fully connected layer, the output "output".
Graph finish_classifier(GraphBuilder& g, const std::string& name, ValueId x, long classes);

}  // namespace lathe::models
