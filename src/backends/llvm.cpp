// llvm.cpp: CPUs, by LLVM. Interface: backend.h.
//
// Kernels become functions that the threads of a pool call (runtime.h). The memory of the device is
// that of the process.
#include <llvm/Config/llvm-config.h>

#include "backends/backend.h"
#include "backends/llvm_compiler.h"
#include "backends/llvm_device.h"
#include "backends/llvm_library.h"
#include "base/error.h"

namespace lathe::backends {
namespace {

/// This machine, if code can be made for it.
std::vector<Target> this_machine() {
  try {
    return {native_target()};
  } catch (const UserError&) {
    return {};
  }
}

}  // namespace

Backend llvm() {
  return {.name = "llvm",
          .summary = "machine code for CPUs",
          .version = LLVM_VERSION_STRING,
          .architectures = {Architecture::aarch64, Architecture::x86_64},
          .forms = {{"llvm", "what LLVM gets"}, {"asm", "the assembly that it makes of it"}},
          .here = this_machine,
          .compiler = llvm_compiler,
          .device = llvm_device,
          .write_library = llvm_write_library};
}

}  // namespace lathe::backends
