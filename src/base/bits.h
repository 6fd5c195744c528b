// A matrix of bits, for relations between small numbers: does row i go with column j?
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lathe {

class BitMatrix {
 public:
  BitMatrix() = default;
  BitMatrix(size_t rows, size_t columns)
      : rows_(rows), columns_(columns), words_((columns + 63) / 64), bits_(rows * words_) {}

  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  bool at(size_t row, size_t column) const {
    return (bits_[row * words_ + column / 64] >> (column % 64) & 1) != 0;
  }
  void set(size_t row, size_t column) {
    bits_[row * words_ + column / 64] |= uint64_t{1} << (column % 64);
  }

  void clear() { std::fill(bits_.begin(), bits_.end(), 0); }

  /// Calls "use" with each column that is set in a row.
  template <class Use>
  void for_each(size_t row, const Use& use) const {
    for (size_t w = 0; w < words_; ++w) {
      for (uint64_t word = bits_[row * words_ + w]; word != 0; word &= word - 1) {
        use(w * 64 + static_cast<size_t>(std::countr_zero(word)));
      }
    }
  }

  /// Adds all bits of a row of another matrix, which has the same columns, to a row of this one.
  void add(size_t row, const BitMatrix& other, size_t from) {
    for (size_t w = 0; w < words_; ++w) {
      bits_[row * words_ + w] |= other.bits_[from * words_ + w];
    }
  }

  /// Is a row of this matrix the same as another one?
  bool same_rows(size_t a, size_t b) const {
    for (size_t w = 0; w < words_; ++w) {
      if (bits_[a * words_ + w] != bits_[b * words_ + w]) return false;
    }
    return true;
  }

  /// Counts the bits of a row that are set, of columns "first" to "end - 1".
  size_t count(size_t row, size_t first, size_t end) const {
    size_t sum = 0;
    for (size_t w = first / 64; w * 64 < end; ++w) {
      uint64_t word = bits_[row * words_ + w];
      if (w == first / 64) word &= ~uint64_t{0} << (first % 64);
      if ((w + 1) * 64 > end) word &= ~uint64_t{0} >> (64 - end % 64);
      sum += static_cast<size_t>(std::popcount(word));
    }
    return sum;
  }

  /// Counts the bits that are set, in all rows.
  size_t count() const {
    size_t sum = 0;
    for (uint64_t word : bits_) sum += static_cast<size_t>(std::popcount(word));
    return sum;
  }

  /// Counts the columns in which a bit is set.
  size_t used_columns() const {
    BitMatrix any(1, columns_);
    for (size_t row = 0; row < rows_; ++row) any.add(0, *this, row);
    return any.count();
  }

  friend auto operator<=>(const BitMatrix&, const BitMatrix&) = default;

 private:
  size_t rows_ = 0, columns_ = 0, words_ = 0;
  std::vector<uint64_t> bits_;
};

}  // namespace lathe
