// Elements that tensors of indices choose, to be read or to be updated.
#pragma once

#include <vector>

#include "base/array.h"
#include "ops/op.h"

namespace lathe::ops {

/// Fails unless operand 1, which holds indices along "axis" of operand 0, has the same rank and is
/// no larger in the other dimensions.
void check_indices_fit(const Call& call, size_t axis);

/// Returns the offsets of the elements of "shape" that "indices" along "axis" choose, one each.
std::vector<long> elements_along(const Call& call, const Shape& shape, const Array& indices,
                                 size_t axis);

/// Returns the offsets of all elements of the slices of "shape" that tuples of indices choose; the
/// first "batch" dimensions are indexed by the place of the tuple instead.
std::vector<long> slices(const Call& call, const Shape& shape, const Array& indices, size_t batch);

/// Returns the setting "reduction"; check_combination() fails unless a call's fits its elements.
Setting reduction_setting();
void check_combination(const Call& call);

/// Returns "x" with element places[i] replaced by updates[i], or combined with it as the call's
/// "reduction" says.
Array scattered(const Call& call, const Array& x, const std::vector<long>& places,
                const Array& updates);

}  // namespace lathe::ops
