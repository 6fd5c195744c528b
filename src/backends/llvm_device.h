// This process as a device: objects are linked into it. Private to the folder.
#pragma once

#include "backends/backend.h"

namespace lathe {

/// Returns the CPU of this machine. Networks run with threads of their own (runtime.h).
std::unique_ptr<Device> llvm_device(const Target& target);

}  // namespace lathe
