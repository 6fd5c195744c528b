// Shared by operators that compute on arrays, because data decide which elements they read.
#pragma once

#include <vector>

#include "base/array.h"
#include "ops/op.h"

namespace lathe::ops {

/// The elements of a tensor as lines along one dimension: element "i" of the line that begins at
/// (outer, inner) is at (outer * extent + i) * inners + inner.
struct Lines {
  long outers, extent, inners;

  Lines(const Shape& shape, size_t axis);
  long at(long outer, long i, long inner) const { return (outer * extent + i) * inners + inner; }
  /// Calls visit(outer, inner) for each line, in the order in which they begin.
  template <class Visit>
  void each(Visit visit) const {
    for (long outer = 0; outer < outers; ++outer) {
      for (long inner = 0; inner < inners; ++inner) visit(outer, inner);
    }
  }
};

/// Moves "index" to the next element of "shape", row-major; after the last comes the first.
void advance(Shape& index, const Shape& shape);
/// Returns the row-major strides of "shape", in elements.
Shape strides_of(const Shape& shape);
/// Returns the number of elements in the dimensions from "first" to before "end".
long count_between(const Shape& shape, size_t first, size_t end);

/// Returns the index that "value" means; a negative value counts from the end. Fails unless the
/// index is from 0 to "extent" - 1.
long index_in(const Call& call, long value, long extent);

/// Returns an array whose i-th element is element sources[i] of "from", of any type. Where "from"
/// has n elements, source n + i is element i of "more".
Array picked(const Array& from, Shape shape, const std::vector<long>& sources);
Array picked(const Array& from, const Array& more, Shape shape, const std::vector<long>& sources);

/// Calls f with a value of the type to compute in: long for integral elements, otherwise double.
template <class F>
auto on_numbers(Element element, F f) {
  return is_integral(element) ? f(long{}) : f(double{});
}

/// Returns the elements as that type.
template <class T>
std::vector<T> numbers(const Array& array) {
  if constexpr (std::is_same_v<T, long>) {
    return array.integers();
  } else {
    return array.reals();
  }
}

/// Return x * y and x + y. Integers wrap modulo 2^64, as C++ leaves their overflow undefined.
inline double product(double x, double y) { return x * y; }
inline long product(long x, long y) {
  return static_cast<long>(static_cast<unsigned long>(x) * static_cast<unsigned long>(y));
}
inline double sum(double x, double y) { return x + y; }
inline long sum(long x, long y) {
  return static_cast<long>(static_cast<unsigned long>(x) + static_cast<unsigned long>(y));
}

/// Makes an array from numbers of that type.
inline Array array_of(Element element, Shape shape, const std::vector<long>& values) {
  return Array::of_integers(element, std::move(shape), values);
}
inline Array array_of(Element element, Shape shape, const std::vector<double>& values) {
  return Array::of_reals(element, std::move(shape), values);
}

}  // namespace lathe::ops
