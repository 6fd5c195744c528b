// A compiled network that runs step by step, in memory that can be looked at. This is for checks.
// The usual Runner keeps its memory to itself, and several workers share a step of it.
#pragma once

#include "backends/backend.h"
#include "compile/compile.h"

namespace lathe {

class StepRunner {
 public:
  /// Loads the network, and runs the steps that run once. Inputs hold random numbers.
  explicit StepRunner(const Compiled& compiled);

  /// Runs a step.
  void run(size_t step);

  /// Returns where the host can look at a place; it is so until the next step runs.
  const std::byte* address(const lathe_place& place);

 private:
  const Compiled& compiled_;
  std::unique_ptr<Device> device_;
  std::vector<Kernel> kernels_;
  std::unique_ptr<Memory> weights_, arena_, prepared_;
  std::vector<std::unique_ptr<Memory>> inputs_, outputs_;

  Memory& memory_of(const lathe_place& place);
};

}  // namespace lathe
