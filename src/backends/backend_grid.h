// What backends for GPUs share: the grid of a kernel, and networks that are a sequence of launches.
#pragma once

#include "backends/backend.h"

namespace lathe {

/// Returns how many blocks and threads run a kernel. On a CPU all are 1.
Grid grid_of(const Code& code);

/// Makes a network ready to run on a device that does nothing else with it than launch its steps
/// one after the other. Weights, what is made of them, and all values are in the memory of the
/// device; inputs and outputs are copied.
std::unique_ptr<DeviceNetwork> start_launches(Device& device, const Tables& network,
                                              long weight_bytes,
                                              const std::function<void(std::byte*)>& write);

}  // namespace lathe
