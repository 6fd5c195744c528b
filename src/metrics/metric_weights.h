// The common part of metrics that look at weights and their gradients.
#pragma once

#include <functional>
#include <span>

#include "metrics/metric_probe.h"

namespace lathe {

/// The weight of a convolution or a fully connected layer, and the place of a value of its shape,
/// such as its gradient, among the results of a probe.
struct WeightResult {
  std::string layer;
  Array weight;
  size_t place;
};

/// Makes the gradients of the layers' weights results of the probe. A weight that the loss does
/// not depend on is left out.
std::vector<WeightResult> want_gradients(Probe& probe);

/// Makes the score of a layer from the elements of a weight and of the result that belongs to it.
using WeightScore = std::function<double(std::span<const double>, std::span<const double>)>;
/// Returns the scores of the layers, and their sum.
Score score_of(const Probe& probe, const std::vector<WeightResult>& results,
               const WeightScore& score);

/// Returns the sum of |a * b| over all elements. For weights and their gradients, this is what the
/// loss would change by without each of the weights.
double salience(std::span<const double> a, std::span<const double> b);

/// Returns the logarithm of a number. For 0, it is that of the least number above 0. So a network
/// that lets nothing through has a score, too: the worst.
double logarithm(double number);

/// Returns the network for so many samples. If the number of samples is part of what it computes,
/// as in a reshape that mixes them, the network stays as it is.
Graph with_samples(const Graph& network, long samples);

}  // namespace lathe
