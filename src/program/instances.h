// Instances of a statement, part by part: coordinates that no index and no condition brings
// together are independent, and each part of them is looked at alone.
//
//   O[co, oh] += W[co, ci, kh] * I[ci, oh + kh]      the parts: co; ci; oh and kh
#pragma once

#include <vector>

#include "nest/nest.h"

namespace lathe {

/// The domain of a statement as a product of parts.
class InstanceParts {
 public:
  explicit InstanceParts(const Statement& statement);

  /// Puts coordinates into one part.
  void join(const std::vector<bool>& coordinates);

  /// Returns the parts; each is a list of coordinates.
  std::vector<std::vector<size_t>> all() const;

  /// Lists the instances of a part by number. Returns nothing if there are too many to list.
  std::vector<long> instances(const std::vector<size_t>& part) const;

  /// Sets the coordinates of a part to those of an instance.
  void set(const std::vector<size_t>& part, long number, std::vector<long>& coordinates) const;

 private:
  std::vector<long> extents_;
  std::vector<std::vector<poly::Constraint>> pieces_;
  std::vector<size_t> part_of_;
};

}  // namespace lathe
