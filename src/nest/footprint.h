// The footprint: what a nest touches, counted from its domains and accesses. No operator has a
// formula of its own, so the cost of one that nobody has named yet is right too.
#pragma once

#include "nest/nest.h"

namespace lathe {

struct Cost {
  long instances = 0;  ///< of all statements
  long macs = 0;       ///< instances that add a product of two or more reads
  long weights = 0;    ///< distinct elements of weight tensors that are read
  long bytes = 0;      ///< distinct elements of all tensors that are touched, in bytes

  friend bool operator==(const Cost&, const Cost&) = default;
};

/// Counts the cost of a nest.
Cost cost(const Nest& nest);

/// The same of instances and MACs alone: what is touched can take long to count where it has many
/// parts.
Cost operations(const Nest& nest);

/// Counts the distinct elements of "tensor" that are read or written. Of a local tensor, those
/// count once that live in different iterations of the loops that all its users share: they can be
/// stored in one place.
long touched(const Nest& nest, size_t tensor);

}  // namespace lathe
