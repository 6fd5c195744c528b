// cuda_devices.cpp: what the driver tells of devices. Interface: cuda_devices.h.
#include "backends/cuda_devices.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "backends/backend_grid.h"

namespace lathe {
namespace {

std::vector<lathe_device> ask_in_a_child() {
  int ends[2];
  if (pipe(ends) != 0) return {};
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    for (const lathe_device& about : devices_of(lathe_cuda)) {
      if (::write(ends[1], &about, sizeof about) != sizeof about) break;
    }
    _exit(0);
  }
  close(ends[1]);
  std::vector<lathe_device> devices;
  lathe_device device{};
  while (child > 0 && ::read(ends[0], &device, sizeof device) == sizeof device) {
    devices.push_back(device);
  }
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return devices;
}

/// Returns the newest kind whose code a device runs.
const Target* kind_of(const lathe_device& device) {
  const Target* found = nullptr;
  for (const Target& kind : gpu_targets()) {
    bool runs = kind.architecture == Architecture::nvptx && kind.gpu.device == any_device &&
                kind.gpu.capability <= device.version;
    if (runs && (found == nullptr || kind.gpu.capability > found->gpu.capability)) found = &kind;
  }
  return found;
}

std::vector<Target> find_devices() {
  std::vector<Target> result;
  std::vector<lathe_device> devices = ask_in_a_child();
  for (size_t i = 0; i < devices.size(); ++i) {
    const Target* kind = kind_of(devices[i]);
    if (kind == nullptr) continue;
    Target target = *kind;
    target.name = i == 0 ? "cuda" : fmt::format("cuda:{}", i);
    target.gpu.device = static_cast<long>(i);
    target.gpu.model = devices[i].model;
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
