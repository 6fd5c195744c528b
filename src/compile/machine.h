// Measures what this machine can do: the peak of its arithmetic, and how fast it reads memory.
#pragma once

#include <string>
#include <vector>

#include "codegen/target.h"

namespace lathe {

/// How fast one core reads a level of memory.
struct Bandwidth {
  std::string level;  ///< "L1", "L2", "memory"
  long bytes;         ///< how many were read again and again
  double rate;        ///< bytes a second
};

struct Machine {
  double peak = 0;  ///< floating-point operations a second, f32, of one core
  std::vector<Bandwidth> bandwidths;
};

/// Measures the core of the calling thread; the target is this machine. That takes about half a
/// second.
Machine measure_machine(const Target& target);

/// Measures only the peak. That takes some 20 ms.
double measure_peak(const Target& target);

}  // namespace lathe
