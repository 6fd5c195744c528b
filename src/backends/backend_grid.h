// What backends for GPUs share: the grid of a kernel, and devices whose driver the runtime has.
#pragma once

#include "backends/backend.h"
#include "backends/backend_runtime.h"

namespace lathe {

/// Returns how many blocks and threads run a kernel. On a CPU all are 1.
Grid grid_of(const Code& code);

/// Returns what the driver says of its devices; none if there is no driver.
std::vector<lathe_device> devices_of(const lathe_machine& machine);

/// Opens the device of a target. Fails if there is none.
std::unique_ptr<Device> open_gpu(const lathe_machine& machine, const Target& target);

}  // namespace lathe
