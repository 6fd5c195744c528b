// cuda.cpp: GPUs of NVIDIA. Interface: backend.h.
//
// LLVM makes PTX of kernels (llvm_emit.cpp, llvm_nvptx.cpp), and the driver compiles that where it
// runs. So code is made for any device, also for those that are not here, and needs no toolkit.
#include <llvm/Config/llvm-config.h>

#include "backends/backend_grid.h"
#include "backends/cuda_devices.h"
#include "backends/llvm_compiler.h"
#include "backends/llvm_library.h"

namespace lathe::backends {
namespace {

class CudaCompiler : public Compiler {
 public:
  CudaCompiler(const Target& target, Effort effort) : compiler_(llvm_compiler(target, effort)) {}

  std::string object(const std::vector<NamedCode>& kernels) override {
    return compiler_->object(kernels);
  }

  std::string text(const std::string& form, const std::vector<NamedCode>& kernels) override {
    return compiler_->text(form == "ptx" ? "asm" : "llvm", kernels);
  }

 private:
  std::unique_ptr<Compiler> compiler_;
};

std::unique_ptr<Compiler> cuda_compiler(const Target& target, Effort effort) {
  return std::make_unique<CudaCompiler>(target, effort);
}

std::unique_ptr<Device> cuda_device(const Target& target) { return open_gpu(lathe_cuda, target); }

void cuda_library(const LibraryParts& parts) { write_library_for("lathe_cuda", parts); }

}  // namespace

Backend cuda() {
  return {.name = "cuda",
          .summary = "PTX for GPUs of NVIDIA",
          .version = LLVM_VERSION_STRING,
          .architectures = {Architecture::nvptx},
          .forms = {{"nvvm", "what LLVM gets"}, {"ptx", "the assembly that it makes of it"}},
          .here = cuda_here,
          .compiler = cuda_compiler,
          .device = cuda_device,
          .write_library = cuda_library};
}

}  // namespace lathe::backends
