// What a machine has: the schedules read it to choose sizes, the backends to choose instructions.
#pragma once

#include <string>
#include <vector>

namespace lathe {

/// What a processor's instructions belong to, whatever it has beyond the base.
enum class Architecture { aarch64, x86_64 };

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
  long workers = 1;                              ///< that will mostly share the work

  long lanes(long element_bytes) const { return vector_bytes / element_bytes; }
};

/// Returns the bytes of this machine's data cache of a level, 1 to 3, that one core uses; 0 if the
/// kernel does not say.
long cache_bytes(int level);

/// Returns the targets that can be compiled for, by name.
const std::vector<Target>& targets();

/// Returns a target by name; "native" is this machine. Unknown ones get an error that says what
/// there is.
Target target_named(const std::string& name);

/// Returns this machine: its instructions come from the kernel, never from the processor's name,
/// which may promise what a virtual machine does not have.
Target native_target();

}  // namespace lathe
