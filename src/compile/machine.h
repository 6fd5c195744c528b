// What this machine can do, measured: the peak of its arithmetic and how fast memory is read.
#pragma once

#include <string>
#include <vector>

#include "codegen/target.h"

namespace lathe {

struct Bandwidth {
  std::string level;  ///< "L1", "L2", "memory"
  long bytes;         ///< that were read again and again
  double rate;        ///< bytes a second, of one core
};

struct Machine {
  double peak = 0;  ///< floating-point operations a second, f32, of one core
  std::vector<Bandwidth> bandwidths;
};

/// Measures the machine, for about half a second, on the calling thread's core.
Machine measure_machine();

/// Measures only the peak: some 20 ms.
double measure_peak();

}  // namespace lathe
