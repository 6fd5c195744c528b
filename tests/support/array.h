// A plain array of any number of dimensions, row-major. References in tests compute with it, so
// that they share nothing with the nests that they are compared with.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <vector>

namespace lathe::test {

template <class T>
struct Array {
  std::vector<long> shape;
  std::vector<T> data;

  explicit Array(std::vector<long> extents, T value = T(0)) : shape(std::move(extents)) {
    size_t n = 1;
    for (long extent : shape) n *= static_cast<size_t>(extent);
    data.assign(n, value);
  }

  T& operator()(std::initializer_list<long> at) { return data[offset(at)]; }
  const T& operator()(std::initializer_list<long> at) const { return data[offset(at)]; }

  /// Is "at" an element?
  bool has(std::initializer_list<long> at) const {
    size_t i = 0;
    for (long index : at) {
      if (index < 0 || index >= shape[i++]) return false;
    }
    return true;
  }

  /// Returns the array with dimensions of extent 1 in front, so that it has "rank" of them.
  Array raised_to(size_t rank) const {
    Array result = *this;
    result.shape.insert(result.shape.begin(), rank - shape.size(), 1);
    return result;
  }

  friend bool operator==(const Array&, const Array&) = default;

 private:
  size_t offset(std::initializer_list<long> at) const {
    if (at.size() != shape.size() || !has(at)) throw std::out_of_range("no such element");
    long result = 0;
    size_t i = 0;
    for (long index : at) result = result * shape[i++] + index;
    return static_cast<size_t>(result);
  }
};

}  // namespace lathe::test
