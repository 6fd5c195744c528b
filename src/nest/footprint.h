// The footprint: what a nest touches, counted from its domains and accesses. No operator has a
// formula of its own. So the count is also right for operators that have no name yet.
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

/// Counts only instances and MACs. To count what is touched can take long where it has many parts.
Cost operations(const Nest& nest);

/// Counts the distinct elements of "tensor" that are read or written. All users of a local tensor
/// may share some outer loops. Then only the elements of one iteration of these count: the next
/// iteration can use the same storage.
long touched(const Nest& nest, size_t tensor);

}  // namespace lathe
