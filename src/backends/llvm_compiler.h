// Kernels to objects through LLVM, for this machine or another one. Private to the folder.
#pragma once

#include "backends/backend.h"

namespace lathe {

/// Returns what compiles for a CPU, or for a GPU of NVIDIA, whose objects are PTX. Its text forms
/// are "llvm", LLVM's language, and "asm".
std::unique_ptr<Compiler> llvm_compiler(const Target& target, Effort effort);

}  // namespace lathe
