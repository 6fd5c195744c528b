// opencl.cpp: GPUs and whatever else has OpenCL. Interface: backend.h.
//
// A kernel is printed as OpenCL C (opencl_source.cpp), and the driver compiles it where it runs
// (opencl_device.cpp). So code is made for any device, also for those that are not here.
#include "backends/backend.h"
#include "backends/opencl_device.h"
#include "backends/opencl_source.h"
#include "base/error.h"

namespace lathe::backends {
namespace {

class OpenclCompiler : public Compiler {
 public:
  std::string object(const std::vector<NamedCode>& kernels) override {
    std::string source;
    for (const NamedCode& kernel : kernels) source += opencl_kernel(kernel);
    return source;
  }

  std::string text(const std::string& /*form*/, const std::vector<NamedCode>& kernels) override {
    return opencl_prelude() + object(kernels);
  }
};

std::unique_ptr<Compiler> opencl_compiler(const Target& /*target*/, Effort /*effort*/) {
  return std::make_unique<OpenclCompiler>();
}

void refuse_library(const LibraryParts& /*parts*/) {
  fail("libraries are written for CPUs only; 'lathe run --target opencl' runs the network");
}

}  // namespace

Backend opencl() {
  return {.name = "opencl",
          .summary = "OpenCL C for GPUs",
          .version = "1",
          .architectures = {Architecture::opencl},
          .forms = {{"source", "OpenCL C"}},
          .here = opencl_here,
          .compiler = opencl_compiler,
          .device = opencl_device,
          .write_library = refuse_library};
}

}  // namespace lathe::backends
