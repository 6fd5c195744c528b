// Devices that OpenCL finds: their kernels and their memory.
#pragma once

#include "backends/backend.h"

namespace lathe {

/// Returns the devices of this computer as targets: "opencl", "opencl:1", ...
std::vector<Target> opencl_here();

/// Returns a device. Fails if there is no OpenCL library or no such device.
std::unique_ptr<Device> opencl_device(const Target& target);

}  // namespace lathe
