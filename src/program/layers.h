// The nodes of a network as a person sees them: what each is, and what it costs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/footprint.h"
#include "ops/op.h"

namespace lathe {

struct Layer {
  size_t node;  ///< in the graph
  std::string name, op;
  std::string description;  ///< "conv 3x3 64->128 /2"
  std::string key;          ///< nodes with equal keys do the same work on other data
  Shape inner_output;       ///< without the batch
  Cost cost;                ///< its operations, counted from the nest; 0 if the node has none
  long weights = 0;         ///< elements of the weights that it reads
  bool is_convolution = false;
};

/// Which layers of a network may change.
struct LayerChoice {
  std::string include = "*", exclude = "";  ///< patterns of layers' names
  /// May 1x1 convolutions change? They mix channels where other layers no longer do.
  bool pointwise = false;
};

/// Returns the nodes that may change, in order: the convolutions, except those that read the
/// network's input as it is and, unless "choice" says otherwise, those of 1x1. This is the only
/// definition: spaces of networks, tables of trained networks, and all that draws networks use it.
std::vector<size_t> changeable_layers(const Graph& graph, const LayerChoice& choice = {});

/// Returns which of the layers a node is a part of, as a number; nothing if it is a part of none.
/// Nodes that a recipe makes of a layer have its name, or a name that begins with it, as in
/// "conv1.0" or "conv1_deepen". If several layers fit, the one with the longest name counts.
std::optional<size_t> layer_with(const std::string& node, const std::vector<std::string>& layers);

/// Returns the weights of layers, in order: those that are multiplied with what a layer reads and
/// summed up, as convolutions do. They may be computed from others before. Neither biases and
/// scales, which have one dimension, are among them, nor tables that something is looked up in.
std::vector<ValueId> layer_weights(const Graph& graph);

/// Describes all nodes of a graph, in order.
std::vector<Layer> layers_of(const Graph& graph);

}  // namespace lathe
