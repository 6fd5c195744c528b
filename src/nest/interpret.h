// The interpreter: runs the instances of a nest one by one in schedule order. It is the oracle that
// every transformation, backend and export is compared with.
#pragma once

#include <vector>

#include "nest/nest.h"

namespace lathe {

/// The elements of every tensor of a nest, row-major, padding included.
template <class T>
using Buffers = std::vector<std::vector<T>>;

/// Returns the row-major offset of element "at" of a tensor, as a function of what "at" is one of.
isl::aff row_major(const isl::multi_aff& at, const Tensor& tensor);

/// Returns by how much a pick along a dimension moves the row-major offset of a tensor.
long picked_offset(const Tensor& tensor, size_t dim, long value);

/// Returns buffers of the right sizes: padding holds its value, everything else 0.
template <class T>
Buffers<T> make_buffers(const Nest& nest);

/// Fills inputs and weights (not their padding) with integers from -range to range, drawn from
/// "seed" by the tensor's name: equal names and shapes get equal values in every nest.
template <class T>
void fill_inputs(const Nest& nest, Buffers<T>& buffers, unsigned seed, long range = 8);

/// Runs "nest": reads inputs and weights from "buffers", writes the other tensors there.
template <class T>
void interpret(const Nest& nest, Buffers<T>& buffers);

}  // namespace lathe
