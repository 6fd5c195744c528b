// What a machine has. Schedules choose sizes by it, and backends choose instructions.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace lathe {

/// Bytes of a cache line: the same on all targets.
constexpr long cache_line = 64;

/// Returns the bytes of as many lines as hold "bytes" bytes.
inline long rounded_to_lines(long bytes) {
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

/// The instructions that every processor of a kind has.
enum class Architecture { aarch64, x86_64 };

/// Arithmetic on narrow numbers, which not every processor of an architecture has.
enum class Extra {
  f16,        ///< adds and multiplies f16
  i8_dot,     ///< adds four products of 8-bit integers to each 32-bit one
  i8_matrix,  ///< multiplies small matrices of them
  bf16_dot,   ///< adds two products of bf16 to each f32
};

/// Names an extra as targets are named: "f16" of "aarch64+f16+dot".
const char* name_of(Extra extra);

struct Target {
  std::string name;  ///< "aarch64", "x86-64-v4"
  Architecture architecture = Architecture::aarch64;
  std::string triple;    ///< as compilers write it
  std::string features;  ///< instructions beyond the base of the architecture: "+avx2,+fma"
  long vector_bytes = 16;
  long registers = 32;  ///< vector registers
  /// Can an instruction multiply a vector by one lane of another? Then a scalar factor is loaded
  /// with its neighbours; otherwise each is broadcast from memory.
  bool lane_products = false;
  long l1_bytes = 64 << 10, l2_bytes = 1 << 20;  ///< of one core
  long workers = 1;                              ///< how many share the work, most of the time
  std::set<Extra> extras = {};

  bool has(Extra extra) const { return extras.contains(extra); }
  long lanes(long element_bytes) const { return vector_bytes / element_bytes; }
};

/// Returns the size in bytes of the data cache of this machine at a level from 1 to 3. Returns 0 if
/// the kernel does not tell.
long cache_bytes(int level);

/// Returns all targets that Lathe can compile for, sorted by name.
const std::vector<Target>& targets();

/// Returns a target by name; "native" is this machine. Extras are added to the others' names:
/// "aarch64+f16+dot". For an unknown name the error lists those that exist.
Target target_named(const std::string& name);

/// Returns this machine. The kernel tells which instructions it has. The processor's name would not
/// do: a virtual machine may lack some that the name promises.
Target native_target();

}  // namespace lathe
