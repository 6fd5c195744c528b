// What metrics share that look at weights and their gradients.
#pragma once

#include <functional>
#include <span>

#include "metrics/metric_program.h"

namespace lathe {

/// A convolution's or a fully connected layer's weight, with the place of a value of its shape
/// among the results of a program: its gradient, say.
struct WeightResult {
  std::string layer;
  Array weight;
  size_t place;
};

/// Makes the gradients of the layers' weights results of the program. A weight that the loss does
/// not depend on is left out.
std::vector<WeightResult> want_gradients(Program& program);

/// Returns the scores of the layers, and their sum; a score is made of the elements of a weight and
/// of the result that belongs to it.
using WeightScore = std::function<double(std::span<const double>, std::span<const double>)>;
Score score_of(const Program& program, const std::vector<WeightResult>& results,
               const WeightScore& score);

/// Returns the sum of |a * b| over all elements: what would be lost without each of the weights.
double salience(std::span<const double> a, std::span<const double> b);

/// Returns the logarithm; of 0, that of the least number that is not 0, so that networks through
/// which nothing goes have a score too: the worst.
double logarithm(double number);

/// Returns the network for so many samples. Where the number of samples is part of what it computes
/// (a reshape that mixes them) it stays as it is.
Graph with_samples(const Graph& network, long samples);

}  // namespace lathe
