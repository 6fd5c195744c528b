// A trained network whose layers read 8-bit integers.
//
//   Quantised found = quantised(network, minibatches, {.clipping = Clipping::mse});
//   found.network          y = conv(dequantize(quantize(x)), dequantize(w)): as other tools write
//   it found.layers           what each layer reads, and how far off its results are
//
// The network says which numbers become integers, and is computed on these by the pass
// FakeQuantizationToInteger. Numbers are rounded where the compiler stores them: between the nodes
// that it makes one kernel of. Data have one scale and zero point, weights a scale for each
// channel. Batch normalisations are folded into the layers before.
#pragma once

#include "capacity/value_ranges.h"

namespace lathe {

struct QuantiseOptions {
  Clipping clipping = Clipping::mse;
  WatchOptions watch;
  /// Which layers read integers? Null: all.
  std::function<bool(const Node&)> which = nullptr;
  /// Is the network only to be timed? Then no minibatches are looked at: all data are taken to lie
  /// between -0.5 and 1.
  bool timed = false;
};

/// What became of a layer.
struct QuantisedLayer {
  std::string layer, op;
  std::string kept;                  ///< why it computes as before; empty: it reads integers
  double least = 0, greatest = 0;    ///< of the numbers that it reads
  Integers data = {};                ///< what these became
  std::optional<double> error = {};  ///< of its results, as a part of their root mean square
};

struct Quantised {
  Graph network;
  std::vector<QuantisedLayer> layers;  ///< all that multiply by weights, or two computed values
};

/// Returns the network with folded normalisations that is quantised, and otherwise what it was.
Graph with_folded_normalisations(const Graph& network);

/// Quantises a network, which has one input; the minibatches are samples of it. A layer stays as it
/// is where what it reads, or its weights, are no numbers, or nothing but 0. Fails if there is no
/// layer, or the network has integers of 8 bits already.
Quantised quantised(const Graph& network, const std::vector<Array>& minibatches,
                    const QuantiseOptions& options);

}  // namespace lathe
