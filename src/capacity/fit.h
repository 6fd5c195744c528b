// Weights for a network that steps changed, from what the trained original computes: layer by
// layer, from the front, the weights with which a layer comes nearest to what it computed there,
// given what it reads now. That is a regression for every nest that is linear in its weights.
//
//   Fit fit = fitted(original, transformed(original, recipe), minibatches, {});
//   fit.network                                  with other weights: it has an accuracy before
//   training fit.layers[3].unexplained                    0.12 of what the layer's output varied is
//   lost
//
// The mean and variance of batch normalisations are measured anew on the way. Layers whose output
// the original does not have keep the weights that the steps left them.
#pragma once

#include <functional>
#include <string>

#include "codegen/target.h"
#include "graph/graph.h"

namespace lathe {

struct FitOptions {
  Target target;          ///< a machine of this computer
  double ridge = 0.1;     ///< how much weights are drawn to what they were (normal_equations.h)
  long observations = 6;  ///< at most so many for each weight of a filter
  int threads = 1;
  /// Is told how many layers are done, and of how many.
  std::function<void(size_t, size_t)> progress = nullptr;
};

/// What became of a layer.
struct LayerFit {
  std::string layer;
  /// Which share of the variance of what it computed in the original it misses: with the weights
  /// that the steps left it, and with the new ones. With the old ones, scale and shift count too.
  double before = 0, unexplained = 0;
};

struct Fit {
  Graph network;
  std::vector<LayerFit> layers;       ///< those that got new weights, in order
  std::vector<std::string> unfitted;  ///< changed layers that kept theirs
};

/// Fits a changed network to the original. Where it has fewer channels, they are the first ones of
/// the original, or the first ones of each group. Both must have data for all weights, except that
/// new weights of the changed one are drawn. Minibatches are inputs, all of one size.
Fit fitted(const Graph& original, const Graph& changed, const std::vector<Array>& minibatches,
           const FitOptions& options);

}  // namespace lathe
