// The CUDA devices of this computer.
#pragma once

#include <vector>

#include "codegen/target.h"

namespace lathe {

/// Returns the devices as targets, in the order of the driver; none if there is no driver. A child
/// process asks the driver: a process that has asked once can no longer be forked and use it.
std::vector<Target> cuda_here();

}  // namespace lathe
