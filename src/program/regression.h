// A nest that is linear in its weights, as regressions: which weights multiply which elements that
// are read, for which elements that are written. The accesses alone tell all of it.
//
//   O[n, f, y, x] += W[f, c, i, j] * I[n, c, y + i, x + j]
//
// For each position (n, y, x), the elements of I under the window are regressors, and one of O for
// each filter f is explained by them. Coordinates that choose elements of all three, as groups do,
// make regressions of their own. A weight that is read alone, a bias, multiplies the number 1.
#pragma once

#include <optional>

#include "base/array.h"
#include "nest/nest.h"

namespace lathe {

/// Filters that the same regressors explain. Elements are counted row-major in their tensors, with
/// the padding.
struct RegressionBlock {
  Shape regressors;  ///< of the input, for the first position
  Shape outputs;     ///< of the output, for the first position: one for each filter
  Shape weights;     ///< filter by filter, regressor by regressor
  Shape biases;      ///< of each filter; empty: there are none
};

struct Regression {
  size_t input, weight, output;  ///< tensors of the nest
  std::optional<size_t> bias;
  Shape inputs_at, outputs_at;  ///< where each position is, seen from the first one
  std::vector<RegressionBlock> blocks;
};

/// Takes a nest apart. Returns nothing unless its only output is a sum of products, each of a
/// weight and of an element of one input, and perhaps of weights alone.
std::optional<Regression> regression_of(const Nest& nest);

}  // namespace lathe
