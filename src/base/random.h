// Random numbers that are the same on every machine: integer arithmetic, and floating-point
// operations that IEEE 754 rounds exactly. No library function that may differ is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lathe {

/// A stream of random numbers. Streams of different names are independent.
class Random {
 public:
  explicit Random(uint64_t seed, std::string_view name = "");

  /// Returns 64 random bits.
  uint64_t bits();
  /// Returns an integer from 0 to n - 1.
  uint64_t below(uint64_t n);
  /// Returns a number from 0 up to, not including, 1.
  double uniform();
  /// Returns a number from the normal distribution of mean 0 and deviation 1.
  double normal();

 private:
  uint64_t state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

/// Hashes bytes: the same on every machine and in every run.
uint64_t hash_bytes(std::string_view bytes, uint64_t seed = 0);

/// The same for the elements of tensors, which are many: eight bytes at a time.
uint64_t hash_data(std::span<const std::byte> bytes);

}  // namespace lathe
