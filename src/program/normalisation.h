// Statements that normalise the channels of a tensor, seen as standard operators. Read off the body
// and the accesses alone.
//
//   T[n, c, h, w] = max((X[n, c, h, w] - mean[c]) / sqrt(variance[c] + 1e-05) * scale[c] +
//   shift[c], 0)
//
// is a batch normalisation and a ReLU; without max() it is the former.
#pragma once

#include <optional>

#include "nest/nest.h"

namespace lathe {

/// A batch normalisation; the tensors are those of the nest.
struct Normalisation {
  size_t input;
  size_t scale, shift, mean, variance;
  long channels;
  double epsilon;
  bool rectified;  ///< does a ReLU follow?
};

/// Takes a statement apart that normalises each element of one tensor into another; the channels
/// are the second dimension. Nothing if it is no such statement.
std::optional<Normalisation> normalisation_of(const Nest& nest, const Statement& statement);

}  // namespace lathe
