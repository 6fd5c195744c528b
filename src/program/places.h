// Places of elements that accesses touch: dimensions of a tensor, taken together, as one number.
//
//   W[32*g + co, ci]     both dimensions together: 64*(32*g + co) + ci, where W has 64 columns
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/nest.h"

namespace lathe {

/// A dimension of a tensor as an access counts it.
struct CountedDimension {
  poly::Affine index;
  std::vector<bool> involved;   ///< coordinates of the statement
  long before, extent, stored;  ///< elements of padding before; without padding; with it
};

/// Takes an index of an access apart.
CountedDimension counted_dimension(const Tensor& tensor, const Access& access, size_t dimension);

/// Dimensions of an access that are taken together.
struct Places {
  size_t tensor;
  std::vector<size_t> dimensions;
  std::vector<CountedDimension> counted;
  /// Where elements came from, without padding; nothing: they stay.
  const std::vector<long>* from = nullptr;

  /// Adds a dimension of the access.
  void add(size_t dimension, const CountedDimension& how);

  /// Do the places depend on one of these coordinates?
  bool depend_on(const std::vector<size_t>& coordinates) const;

  /// Counts the elements, without padding.
  long size() const;

  /// Returns the place of the element that an instance touches, among all that are stored.
  long at(const std::vector<long>& instance) const;

  /// Returns the place from which what is now at a place came. Padding stays.
  long source(long place) const;

  /// Returns the place among the elements that are no padding; nothing for padding.
  std::optional<long> inner(long place) const;

 private:
  long outer(long inner) const;
};

}  // namespace lathe
