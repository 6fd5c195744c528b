// Reads statements that normalise the channels of a tensor as standard operators. The body and the
// accesses tell all of it.
//
//   T[n, c, h, w] = max((X[n, c, h, w] - mean[c]) / sqrt(variance[c] + 1e-05) * scale[c] +
//   shift[c], 0)
//
// is a batch normalisation and a ReLU; without max() it is just the normalisation.
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

/// Takes apart a statement that normalises each element of one tensor into another; the channels
/// are the second dimension. Returns nothing for any other statement.
std::optional<Normalisation> normalisation_of(const Nest& nest, const Statement& statement);

}  // namespace lathe
