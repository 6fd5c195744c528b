// Kernels run on a device with memory of its own, and compared with the interpreter.
#pragma once

#include "backends/backend_grid.h"
#include "support/compiled.h"

namespace lathe::test {

/// Runs the kernels of a case on a device, on memory that is watched.
inline void run_on_device(const CompiledCase& c, Device& device, const std::vector<Kernel>& kernels,
                          double& worst) {
  std::vector<WatchedTensor> memory = memory_of(c);
  std::vector<std::unique_ptr<Memory>> buffers;
  for (WatchedTensor& tensor : memory) {
    buffers.push_back(device.allocate(static_cast<long>(tensor.whole().size())));
    buffers.back()->write(0, tensor.whole());
  }
  for (size_t k = 0; k < c.kernels.size(); ++k) {
    Launch launch{kernels[k], {}, 1, 0, grid_of(c.kernels[k])};
    for (size_t t : arguments_of(c.kernels[k])) {
      launch.tensors.push_back({buffers[t].get(), static_cast<long>(WatchedTensor::margin)});
    }
    device.launch(launch);
  }
  for (size_t t = 0; t < memory.size(); ++t) buffers[t]->read(0, memory[t].whole());
  expect_computed(c, memory, worst);
}

/// Compiles cases together and runs them; ends with the first that fails and tells its story.
inline void run_all_on_device(const std::vector<CompiledCase>& cases, const Target& target) {
  std::vector<NamedCode> kernels;
  auto symbol = [](size_t i, size_t k) { return fmt::format("case{}_kernel{}", i, k); };
  for (size_t i = 0; i < cases.size(); ++i) {
    for (size_t k = 0; k < cases[i].kernels.size(); ++k) {
      kernels.push_back({symbol(i, k), cases[i].kernels[k]});
    }
  }
  std::unique_ptr<Device> device = make_device(target);
  device->load(make_compiler(target)->object(kernels));
  for (size_t i = 0; i < cases.size(); ++i) {
    std::vector<Kernel> found;
    for (size_t k = 0; k < cases[i].kernels.size(); ++k)
      found.push_back(device->find(symbol(i, k)));
    if (environment("LATHE_TELL", 0) != 0) std::cout << cases[i].story << std::endl;
    double worst = 0;
    run_on_device(cases[i], *device, found, worst);
    if (!testing::Test::HasFailure()) continue;
    std::string story = cases[i].story;
    for (const Code& code : cases[i].kernels) story += "kernel:\n" + print(code);
    ADD_FAILURE() << story;
    return;
  }
}

/// Returns the first OpenCL device of this computer; nothing if there is none.
inline std::optional<Target> opencl_machine() {
  try {
    return machine_named("opencl");
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace lathe::test

/// Skips a test where there is no OpenCL device.
#define LATHE_NEEDS_OPENCL(target)               \
  auto target = ::lathe::test::opencl_machine(); \
  if (!target) GTEST_SKIP() << "no OpenCL device; scripts/setup installs PoCL, which makes one"
