// The role of a coordinate of a statement. It follows from the accesses; no operator states it.
#pragma once

#include "nest/nest.h"

namespace lathe {

enum class CoordinateRole {
  filter,    ///< indexes what is written and the weights: an output channel
  channel,   ///< indexes the weights and what is read: an input channel
  position,  ///< indexes what is written, not the weights: a row, a column, a sample
  window,    ///< slides over what is read: a row or a column of the kernel
  other,
};

/// Returns the role of coordinate "i". Without weights, as in pooling, a position is what a window
/// slides from; other coordinates that are written are filters.
CoordinateRole role_of(const Statement& s, const std::vector<Tensor>& tensors, size_t i);

}  // namespace lathe
