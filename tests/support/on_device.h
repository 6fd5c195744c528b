// Kernels run on a device with memory of its own, and compared with the interpreter. Where cases
// are written for a device elsewhere (device_cases.h), they do not run here.
#pragma once

#include "support/device_cases.h"

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

/// Names the kernels of a case.
inline std::vector<NamedCode> named_kernels(const CompiledCase& c, size_t number) {
  std::vector<NamedCode> result;
  for (size_t k = 0; k < c.kernels.size(); ++k) {
    result.push_back({fmt::format("case{}_kernel{}", number, k), c.kernels[k]});
  }
  return result;
}

/// Writes cases to files: so many to each, as one that breaks the device takes others with it.
inline void write_all(const std::vector<CompiledCase>& cases, const Target& target) {
  constexpr size_t together = 25;
  for (size_t first = 0; first < cases.size(); first += together) {
    std::vector<NamedCode> all;
    std::vector<DeviceCase> written;
    for (size_t i = first; i < std::min(first + together, cases.size()); ++i) {
      std::vector<NamedCode> kernels = named_kernels(cases[i], i);
      written.push_back(device_case(cases[i], kernels));
      all.insert(all.end(), kernels.begin(), kernels.end());
    }
    write_cases(target, {make_compiler(target)->object(all)}, written);
  }
}

/// Compiles cases together and runs them; ends with the first that fails and tells its story.
inline void run_all_on_device(const std::vector<CompiledCase>& cases, const Target& target) {
  if (cases_target()) return write_all(cases, target);
  std::vector<NamedCode> all;
  for (size_t i = 0; i < cases.size(); ++i) {
    for (NamedCode& kernel : named_kernels(cases[i], i)) all.push_back(std::move(kernel));
  }
  std::unique_ptr<Device> device = make_device(target);
  device->load(make_compiler(target)->object(all));
  for (size_t i = 0; i < cases.size(); ++i) {
    std::vector<Kernel> found;
    for (const NamedCode& kernel : named_kernels(cases[i], i)) {
      found.push_back(device->find(kernel.symbol));
    }
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

/// Returns that device as a GPU, also if it is a CPU: PoCL runs what is for GPUs, in its time.
inline std::optional<Target> opencl_gpu() {
  std::optional<Target> target = opencl_machine();
  if (!target) return std::nullopt;
  target->gpu.warp = Gpu{}.warp;
  target->cpu = target_named("opencl").cpu;
  return target;
}

/// Returns what kernels are checked on: the target of cases that are written; the machine of this
/// computer that LATHE_TARGET names, like cuda; or the first OpenCL device. Nothing if there is
/// none.
inline std::optional<Target> checked_target() {
  if (cases_target()) return cases_target();
  const char* named = std::getenv("LATHE_TARGET");
  return named != nullptr ? machine_named(named) : opencl_gpu();
}

/// Returns what else OpenCL kernels are made for: a CPU, whose threads have vectors. They run on
/// any device. Nothing for CUDA.
inline std::optional<Target> as_cpu(Target target) {
  if (target.architecture != Architecture::opencl) return std::nullopt;
  if (target.has_warps()) make_cpu(target, 64);
  return target;
}

}  // namespace lathe::test

#define LATHE_NEEDS_SOME(target, found) \
  auto target = found;                  \
  if (!target) GTEST_SKIP() << "no OpenCL device; scripts/setup installs PoCL, which makes one"

/// Skips a test where there is no OpenCL device.
#define LATHE_NEEDS_OPENCL(target) LATHE_NEEDS_SOME(target, ::lathe::test::opencl_gpu())

/// Skips a test where there is nothing that its kernels are checked on, here or elsewhere.
#define LATHE_NEEDS_DEVICE(target) LATHE_NEEDS_SOME(target, ::lathe::test::checked_target())

/// Skips a test where OpenCL kernels for CPUs are not checked.
#define LATHE_NEEDS_CPU(target)                          \
  LATHE_NEEDS_DEVICE(target##_itself);                   \
  auto target = ::lathe::test::as_cpu(*target##_itself); \
  if (!target) GTEST_SKIP() << "no OpenCL target: CUDA devices are no CPUs"
