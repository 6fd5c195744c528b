// A network that computes less precisely: each layer in halves, or in 8-bit integers.
//
//   Narrowed found = narrowed(network, precisions_in(network, recipe), minibatches, options);
//   found.network, found.kept                  layers that stay f32, and why
#pragma once

#include "capacity/quantised.h"
#include "transforms/transform_precision.h"

namespace lathe {

struct Narrowed {
  Graph network;
  std::vector<std::string> kept;  ///< of each layer that stays f32: "'conv1' stays f32: 'x' is ..."
};

/// Returns the network with these precisions, and with normalisations folded. Inputs and outputs
/// keep their types. Its weights have data. Integers are made for what the minibatches say
/// (capacity/quantised.h). Halves need none; with some, numbers that are too large for them are
/// found before.
Narrowed narrowed(const Graph& network, const LayerPrecisions& precisions,
                  const std::vector<Array>& minibatches, const QuantiseOptions& options);

}  // namespace lathe
