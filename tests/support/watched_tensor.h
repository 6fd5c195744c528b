// The memory of a tensor that kernels run on, with garbage around it: whatever is written beside
// its elements is noticed.
#pragma once

#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/array.h"
#include "codegen/layout.h"
#include "nest/nest.h"

namespace lathe::test {

/// Calls "visit" with the row-major number and the offset of each element of a tensor.
template <class Visit>
void for_each_element(const std::vector<long>& shape, const Layout& layout, Visit visit) {
  std::vector<long> at(shape.size(), 0);
  for (size_t k = 0, n = static_cast<size_t>(count_of(shape)); k < n; ++k) {
    visit(k, static_cast<size_t>(offset_of(at, layout)));
    for (size_t i = shape.size(); i-- > 0;) {
      if (++at[i] < shape[i]) break;
      at[i] = 0;
    }
  }
}

/// The memory of one tensor, with garbage before, behind and wherever no element lies.
class WatchedTensor {
 public:
  WatchedTensor(const Tensor& tensor, const Layout& layout)
      : tensor_(tensor),
        layout_(layout),
        size_(static_cast<size_t>(size_of(tensor.element))),
        memory_(static_cast<size_t>(layout.size) * size_ + 2 * margin,
                std::byte{is_float(tensor.element) ? uint8_t{0xff} : uint8_t{0xa5}}) {}

  std::byte* data() { return memory_.data() + margin; }
  /// Returns all that is watched: the tensor begins "margin" bytes behind its beginning.
  std::span<std::byte> whole() { return memory_; }
  static constexpr size_t margin = 256;
  const Tensor& tensor() const { return tensor_; }

  /// Writes the elements of a reference that the kernels are given.
  void fill(const Reference& reference) {
    Shape shape = tensor_.shape;
    auto reals = reference.reals.find(tensor_.name);
    Array array;
    if (reals != reference.reals.end()) {
      std::vector<double> values = reals->second;
      bool integral = is_integral(tensor_.element);
      for (double& x : values) {
        if (integral && std::isinf(x)) x = static_cast<double>(lowest_of(tensor_.element));
      }
      array = Array::of_reals(tensor_.element, shape, values);
    } else {
      std::vector<long> values = reference.integers.at(tensor_.name);
      for (long& x : values) x = std::max(x, lowest_of(tensor_.element));
      array = Array::of_integers(tensor_.element, shape, values);
    }
    for_each_element(shape, layout_, [&](size_t k, size_t offset) {
      std::memcpy(data() + offset * size_, array.bytes().data() + k * size_, size_);
    });
  }

  /// Writes the values of a constant.
  void fill_values() {
    Array array = Array::of_reals(tensor_.element, tensor_.shape, tensor_.values);
    for_each_element(tensor_.shape, layout_, [&](size_t k, size_t offset) {
      std::memcpy(data() + offset * size_, array.bytes().data() + k * size_, size_);
    });
  }

  void fill_zeros() {
    for_each_element(tensor_.shape, layout_, [&](size_t, size_t offset) {
      std::memset(data() + offset * size_, 0, size_);
    });
  }

  Array elements() {
    std::vector<std::byte> bytes(static_cast<size_t>(count_of(tensor_.shape)) * size_);
    for_each_element(tensor_.shape, layout_, [&](size_t k, size_t offset) {
      std::memcpy(bytes.data() + k * size_, data() + offset * size_, size_);
    });
    return Array::of_bytes(tensor_.element, tensor_.shape, bytes);
  }

  /// Remembers the memory as it is.
  void watch() { before_ = memory_; }

  /// Says what changed that may not; empty if nothing did. "written": its elements may change.
  std::string refute(bool written) {
    std::vector<bool> free(memory_.size(), false);
    if (written) {
      for_each_element(tensor_.shape, layout_, [&](size_t, size_t offset) {
        std::fill_n(free.begin() + static_cast<long>(margin + offset * size_), size_, true);
      });
    }
    for (size_t i = 0; i < memory_.size(); ++i) {
      if (free[i] || memory_[i] == before_[i]) continue;
      return fmt::format("{}: byte {} of {} changed", tensor_.name,
                         static_cast<long>(i) - static_cast<long>(margin),
                         memory_.size() - 2 * margin);
    }
    return "";
  }

 private:
  Tensor tensor_;
  Layout layout_;
  size_t size_;
  std::vector<std::byte> memory_, before_;
};

}  // namespace lathe::test
