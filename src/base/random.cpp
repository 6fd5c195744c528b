// random.cpp: splitmix64, and Marsaglia's polar method for normal numbers. Interface: random.h.
#include "base/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace lathe {
namespace {

constexpr uint64_t golden = 0x9e3779b97f4a7c15;

uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Returns the natural logarithm of 0 < x < 1, from additions, products and quotients only:
/// log(m * 2^e) = e log 2 + 2 atanh((m - 1) / (m + 1)).
double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  double z = (m - 1) / (m + 1), square = z * z, sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * 0.69314718055994531 + 2 * z * sum;
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes, uint64_t seed) {
  uint64_t hash = mixed(seed + golden);
  for (char c : bytes) hash = mixed((hash ^ static_cast<unsigned char>(c)) + golden);
  return hash;
}

uint64_t hash_data(std::span<const std::byte> bytes) {
  // Four chains, as one would wait for its own products.
  constexpr size_t chains = 4, word = sizeof(uint64_t);
  std::array<uint64_t, chains> hashes;
  for (size_t i = 0; i < chains; ++i) hashes[i] = mixed(bytes.size() + (i + 1) * golden);
  size_t at = 0;
  auto take = [&](uint64_t& hash, size_t size) {
    uint64_t next = 0;
    std::memcpy(&next, bytes.data() + at, size);
    hash = mixed((hash ^ next) + golden);
    at += size;
  };
  while (at + chains * word <= bytes.size()) {
    for (uint64_t& hash : hashes) take(hash, word);
  }
  while (at < bytes.size()) take(hashes.front(), std::min(word, bytes.size() - at));
  uint64_t result = 0;
  for (uint64_t hash : hashes) result = mixed((result ^ hash) + golden);
  return result;
}

Random::Random(uint64_t seed, std::string_view name) : state_(hash_bytes(name, seed)) {}

uint64_t Random::bits() { return mixed(state_ += golden); }

uint64_t Random::below(uint64_t n) { return bits() % n; }

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double u = 0, v = 0, s = 0;
  do {
    u = 2 * uniform() - 1;
    v = 2 * uniform() - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  double factor = std::sqrt(-2 * portable_log(s) / s);
  spare_ = v * factor;
  has_spare_ = true;
  return u * factor;
}

}  // namespace lathe
