// Tables as the structures of the runtime: networks that run inside Lathe as they do in a library.
#pragma once

#include "backends/backend_network.h"
#include "runtime/gpu.h"

namespace lathe {

/// A lathe_network and all that it refers to.
class RuntimeTables {
 public:
  /// Kernels are those of the steps, on a CPU. A GPU has a machine.
  RuntimeTables(Tables tables, const std::vector<lathe_kernel>& kernels,
                const lathe_machine* machine, std::span<const std::byte> weights);
  RuntimeTables(const RuntimeTables&) = delete;
  RuntimeTables& operator=(const RuntimeTables&) = delete;

  const lathe_network* network() const { return &network_; }

 private:
  Tables tables_;
  std::vector<lathe_step> steps_;
  std::vector<lathe_launch> launches_;
  std::vector<lathe_face> faces_;  // inputs, then outputs
  lathe_network network_{};
};

/// Returns a step of a GPU as the runtime has it.
lathe_launch launch_of(const TableStep& step);

}  // namespace lathe
