// opencl.cpp: GPUs and whatever else has OpenCL. Interface: backend.h.
//
// Among devices there may be CPUs: their code is that of CPUs, with vectors, and blocks of one
// thread share parallel loops. A kernel is printed as OpenCL C (opencl_source.cpp), and the driver
// compiles it where it runs (runtime/opencl.c). So code is made for any device, also for those that
// are not here.
#include "backends/backend_grid.h"
#include "backends/llvm_library.h"
#include "backends/opencl_source.h"
#include "base/error.h"

namespace lathe::backends {
namespace {

class OpenclCompiler : public Compiler {
 public:
  std::string object(const std::vector<NamedCode>& kernels) override {
    std::string source = opencl_prelude();
    for (const NamedCode& kernel : kernels) source += opencl_kernel(kernel);
    return source;
  }

  std::string text(const std::string& /*form*/, const std::vector<NamedCode>& kernels) override {
    return object(kernels);
  }
};

std::unique_ptr<Compiler> opencl_compiler(const Target& /*target*/, Effort /*effort*/) {
  return std::make_unique<OpenclCompiler>();
}

std::vector<Target> opencl_here() {
  std::vector<Target> result;
  for (const lathe_device& about : devices_of(lathe_opencl)) {
    size_t number = result.size();
    Target target = target_named(number == 0 ? "opencl" : fmt::format("opencl:{}", number));
    Gpu& gpu = target.gpu;
    gpu.multiprocessors = about.multiprocessors;
    gpu.most_threads = std::min<long>(gpu.most_threads, about.most_threads);
    gpu.shared_bytes = std::min<long>(gpu.shared_bytes, about.shared_bytes);
    gpu.model = about.model;
    if (about.vector_bytes > 0) make_cpu(target, about.vector_bytes);
    result.push_back(std::move(target));
  }
  return result;
}

void opencl_library(const LibraryParts& parts) { write_library_for("lathe_opencl", parts); }

std::unique_ptr<Device> opencl_device(const Target& target) {
  return open_gpu(lathe_opencl, target);
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
          .write_library = opencl_library};
}

}  // namespace lathe::backends
