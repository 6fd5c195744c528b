// A compiled network that runs step by step, in memory that can be looked at. This is for checks.
// The usual Runner keeps its memory to itself, and several workers share a step of it.
#pragma once

#include "compile/compile.h"

namespace lathe {

class StepRunner {
 public:
  /// Loads the network, and runs the steps that run once. Inputs hold random numbers.
  explicit StepRunner(const Compiled& compiled);

  /// Runs a step.
  void run(size_t step);

  /// Returns where a place is.
  std::byte* address(const lathe_place& place);

 private:
  /// Bytes that are aligned for vectors.
  struct Memory {
    std::vector<std::byte> bytes;
    std::byte* begin = nullptr;
    explicit Memory(long size);
  };
  const Compiled& compiled_;
  Jit jit_;
  std::vector<lathe_kernel> kernels_;
  Memory weights_, arena_, prepared_, scratch_;
  std::vector<Memory> inputs_, outputs_;
};

}  // namespace lathe
