// Kernels as OpenCL C.
#pragma once

#include "backends/backend.h"

namespace lathe {

/// Returns what the kernels call: it stands once before all of them.
std::string opencl_prelude();

/// Returns one kernel. It gets each of its tensors as a buffer and an offset in bytes.
std::string opencl_kernel(const NamedCode& kernel);

}  // namespace lathe
