// cuda_devices.cpp: what the driver tells of devices. Interface: cuda_devices.h.
//
// The driver's library is loaded when it is first asked for, so that neither building nor running
// Lathe needs it.
#include "backends/cuda_devices.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace lathe {
namespace {

/// What the driver says of a device. It goes through a pipe.
struct CudaDevice {
  char name[128];
  int capability, multiprocessors, shared_bytes, most_threads;
};

/// What can be asked of devices, as the driver numbers it.
enum class Attribute {
  most_threads = 1,
  shared_bytes = 8,
  multiprocessors = 16,
  major = 75,
  minor = 76
};

/// Asks the driver, and writes what it says of each device.
void tell_devices(void* library, int to) {
  auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  int (*begin)(unsigned) = nullptr;
  int (*count_devices)(int*) = nullptr;
  int (*name_of_device)(char*, int, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  bool all = find(begin, "cuInit") && find(count_devices, "cuDeviceGetCount") &&
             find(name_of_device, "cuDeviceGetName") && find(attribute, "cuDeviceGetAttribute");
  int count = 0;
  if (!all || begin(0) != 0 || count_devices(&count) != 0) return;
  auto number = [&](Attribute what, int device) {
    int value = 0;
    attribute(&value, static_cast<int>(what), device);
    return value;
  };
  for (int i = 0; i < count; ++i) {
    CudaDevice device{};
    name_of_device(device.name, sizeof device.name - 1, i);
    device.capability = 10 * number(Attribute::major, i) + number(Attribute::minor, i);
    device.multiprocessors = number(Attribute::multiprocessors, i);
    device.shared_bytes = number(Attribute::shared_bytes, i);
    device.most_threads = number(Attribute::most_threads, i);
    if (::write(to, &device, sizeof device) != sizeof device) return;
  }
}

std::vector<CudaDevice> ask_in_a_child(void* library) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    tell_devices(library, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  std::vector<CudaDevice> devices;
  CudaDevice device{};
  while (child > 0 && ::read(ends[0], &device, sizeof device) == sizeof device) {
    devices.push_back(device);
  }
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return devices;
}

/// Returns the newest kind whose code a device runs.
const Target* kind_of(const CudaDevice& device) {
  const Target* found = nullptr;
  for (const Target& kind : gpu_targets()) {
    bool runs = kind.architecture == Architecture::nvptx && kind.gpu.device == any_device &&
                kind.gpu.capability <= device.capability;
    if (runs && (found == nullptr || kind.gpu.capability > found->gpu.capability)) found = &kind;
  }
  return found;
}

std::vector<Target> find_devices() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  std::vector<Target> result;
  std::vector<CudaDevice> devices = ask_in_a_child(library);
  for (size_t i = 0; i < devices.size(); ++i) {
    const Target* kind = kind_of(devices[i]);
    if (kind == nullptr) continue;
    Target target = *kind;
    target.name = i == 0 ? "cuda" : fmt::format("cuda:{}", i);
    target.gpu.device = static_cast<long>(i);
    target.gpu.model = devices[i].name;
    target.gpu.multiprocessors = devices[i].multiprocessors;
    target.gpu.shared_bytes = std::min<long>(target.gpu.shared_bytes, devices[i].shared_bytes);
    target.gpu.most_threads = std::min<long>(target.gpu.most_threads, devices[i].most_threads);
    result.push_back(std::move(target));
  }
  return result;
}

}  // namespace

std::vector<Target> cuda_here() {
  static const std::vector<Target> devices = find_devices();
  return devices;
}

}  // namespace lathe
