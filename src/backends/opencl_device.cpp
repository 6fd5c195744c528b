// opencl_device.cpp: kernels and memory of an OpenCL device. Interface: opencl_device.h.
//
// What is loaded is source. It is built when a kernel is first looked for, all that is new at once:
// each call of the driver's compiler costs tens of milliseconds.
#include "backends/opencl_device.h"

#include <map>
#include <set>

#include "backends/backend_grid.h"
#include "backends/opencl_api.h"
#include "backends/opencl_source.h"
#include "base/error.h"

namespace lathe {
namespace {

using opencl::expect;

/// Lists all devices of all platforms.
std::vector<opencl::DeviceId> list_devices(const opencl::Api& api) {
  constexpr uint32_t most = 16;
  opencl::Platform platforms[most];
  uint32_t count = 0;
  std::vector<opencl::DeviceId> result;
  if (api.platforms(most, platforms, &count) != opencl::success) return result;
  for (uint32_t p = 0; p < std::min(count, most); ++p) {
    opencl::DeviceId devices[most];
    uint32_t found = 0;
    if (api.devices(platforms[p], opencl::any_device, most, devices, &found) != opencl::success) {
      continue;
    }
    result.insert(result.end(), devices, devices + std::min(found, most));
  }
  return result;
}

template <class T>
long number_of(const opencl::Api& api, opencl::DeviceId device, opencl::Info info) {
  T value = 0;
  api.device_info(device, info, sizeof value, &value, nullptr);
  return static_cast<long>(value);
}

std::string text_of(const opencl::Api& api, opencl::DeviceId device, opencl::Info info) {
  size_t size = 0;
  api.device_info(device, info, 0, nullptr, &size);
  std::string text(size, '\0');
  api.device_info(device, info, size, text.data(), nullptr);
  return text.c_str();
}

/// What all parts of a device use. Memory may outlive the device object.
struct Connection {
  const opencl::Api& api;
  opencl::DeviceId device;
  opencl::Context context = nullptr;
  opencl::Queue queue = nullptr;

  Connection(const opencl::Api& functions, opencl::DeviceId which) : api(functions), device(which) {
    int32_t code = 0;
    context = api.create_context(nullptr, 1, &device, nullptr, nullptr, &code);
    expect(code, "connecting to the device");
    queue = api.create_queue(context, device, opencl::profiled, &code);
    expect(code, "making a queue");
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    api.release_queue(queue);
    api.release_context(context);
  }
};

class DeviceMemory : public Memory {
 public:
  DeviceMemory(std::shared_ptr<Connection> connection, long bytes)
      : connection_(std::move(connection)), size_(static_cast<size_t>(std::max(bytes, 4L))) {
    int32_t code = 0;
    size_t whole = (size_ + 3) / 4 * 4;
    buffer_ =
        api().create_buffer(connection_->context, opencl::read_and_write, whole, nullptr, &code);
    expect(code, fmt::format("allocating {} bytes", bytes));
    uint32_t zero = 0;
    expect(
        api().fill(connection_->queue, buffer_, &zero, sizeof zero, 0, whole, 0, nullptr, nullptr),
        fmt::format("filling {} bytes", bytes));
    expect(api().finish(connection_->queue), fmt::format("filling {} bytes", bytes));
  }
  ~DeviceMemory() override { api().release_buffer(buffer_); }

  void write(long offset, std::span<const std::byte> bytes) override {
    if (bytes.empty()) return;
    expect(api().write(connection_->queue, buffer_, 1, static_cast<size_t>(offset), bytes.size(),
                       bytes.data(), 0, nullptr, nullptr),
           "copying to the device");
  }
  void read(long offset, std::span<std::byte> bytes) const override {
    if (bytes.empty()) return;
    expect(api().read(connection_->queue, buffer_, 1, static_cast<size_t>(offset), bytes.size(),
                      bytes.data(), 0, nullptr, nullptr),
           "copying from the device");
  }
  const std::byte* look() override {
    copy_.resize(size_);
    read(0, copy_);
    return copy_.data();
  }

  opencl::Buffer buffer() const { return buffer_; }

 private:
  std::shared_ptr<Connection> connection_;
  size_t size_;
  opencl::Buffer buffer_ = nullptr;
  std::vector<std::byte> copy_;

  const opencl::Api& api() const { return connection_->api; }
};

class OpenclDevice : public Device {
 public:
  explicit OpenclDevice(opencl::DeviceId device)
      : connection_(std::make_shared<Connection>(opencl::needed_api(), device)) {}

  ~OpenclDevice() override {
    for (const auto& [symbol, kernel] : kernels_) api().release_kernel(kernel);
    for (opencl::Program program : programs_) api().release_program(program);
  }

  void load(const std::string& object) override {
    if (loaded_.insert(object).second) waiting_ += object;
  }

  Kernel find(const std::string& symbol) override {
    build_waiting();
    auto found = kernels_.find(symbol);
    if (found != kernels_.end()) return {found->second};
    for (opencl::Program program : programs_) {
      int32_t code = 0;
      opencl::KernelId kernel = api().create_kernel(program, symbol.c_str(), &code);
      if (code != opencl::success) continue;
      kernels_.emplace(symbol, kernel);
      return {kernel};
    }
    fail("no kernel '{}' was loaded", symbol);
  }

  std::unique_ptr<Memory> allocate(long bytes) override {
    return std::make_unique<DeviceMemory>(connection_, bytes);
  }

  void launch(const Launch& launch) override { enqueue(launch, nullptr); }

  double time(const Launch& launch) override {
    opencl::Event event = nullptr;
    enqueue(launch, &event);
    expect(api().finish(connection_->queue), "running a kernel");
    uint64_t began = 0, ended = 0;
    api().event_info(event, opencl::Info::began, sizeof began, &began, nullptr);
    api().event_info(event, opencl::Info::ended, sizeof ended, &ended, nullptr);
    api().release_event(event);
    constexpr double nanosecond = 1e-9;
    return static_cast<double>(ended - began) * nanosecond;
  }

  std::unique_ptr<DeviceNetwork> start(const Tables& network, int /*workers*/, long weight_bytes,
                                       const std::function<void(std::byte*)>& write) override {
    return start_launches(*this, network, weight_bytes, write);
  }

 private:
  std::shared_ptr<Connection> connection_;
  std::set<std::string> loaded_;
  std::string waiting_;  // source that is not built yet
  std::vector<opencl::Program> programs_;
  std::map<std::string, opencl::KernelId> kernels_;

  const opencl::Api& api() const { return connection_->api; }

  void build_waiting() {
    if (waiting_.empty()) return;
    std::string source = opencl_prelude() + waiting_;
    waiting_.clear();
    const char* text = source.c_str();
    size_t size = source.size();
    int32_t code = 0;
    opencl::Program program = api().create_program(connection_->context, 1, &text, &size, &code);
    expect(code, "taking a program");
    programs_.push_back(program);
    code = api().build(program, 1, &connection_->device, "-cl-std=CL1.2", nullptr, nullptr);
    if (code == opencl::build_failed) fail("OpenCL: a kernel was not built:\n{}", log_of(program));
    expect(code, "building kernels");
  }

  std::string log_of(opencl::Program program) const {
    size_t size = 0;
    api().build_info(program, connection_->device, opencl::Info::build_log, 0, nullptr, &size);
    std::string log(size, '\0');
    api().build_info(program, connection_->device, opencl::Info::build_log, size, log.data(),
                     nullptr);
    return log.c_str();
  }

  void enqueue(const Launch& launch, opencl::Event* event) {
    auto* kernel = static_cast<opencl::KernelId>(launch.kernel.handle);
    uint32_t index = 0;
    for (const Launch::Tensor& tensor : launch.tensors) {
      opencl::Buffer buffer = static_cast<DeviceMemory*>(tensor.memory)->buffer();
      int64_t offset = tensor.offset;
      expect(api().set_argument(kernel, index++, sizeof buffer, &buffer), "passing a tensor");
      expect(api().set_argument(kernel, index++, sizeof offset, &offset), "passing an offset");
    }
    size_t all[3], block[3];
    for (size_t d = 0; d < 3; ++d) {
      block[d] = static_cast<size_t>(launch.grid.threads[d]);
      all[d] = block[d] * static_cast<size_t>(launch.grid.blocks[d]);
    }
    expect(api().launch(connection_->queue, kernel, 3, nullptr, all, block, 0, nullptr, event),
           "launching a kernel");
  }
};

}  // namespace

std::vector<Target> opencl_here() {
  const opencl::Api* api = opencl::api();
  if (api == nullptr) return {};
  std::vector<Target> result;
  for (opencl::DeviceId device : list_devices(*api)) {
    auto number = static_cast<long>(result.size());
    Target target = target_named(number == 0 ? "opencl" : fmt::format("opencl:{}", number));
    Gpu& gpu = target.gpu;
    gpu.multiprocessors = number_of<uint32_t>(*api, device, opencl::Info::compute_units);
    gpu.most_threads =
        std::min(gpu.most_threads, number_of<size_t>(*api, device, opencl::Info::most_threads));
    gpu.shared_bytes =
        std::min(gpu.shared_bytes, number_of<uint64_t>(*api, device, opencl::Info::local_bytes));
    gpu.model = text_of(*api, device, opencl::Info::device_name);
    result.push_back(std::move(target));
  }
  return result;
}

std::unique_ptr<Device> opencl_device(const Target& target) {
  std::vector<opencl::DeviceId> devices = list_devices(opencl::needed_api());
  if (devices.empty()) fail("OpenCL finds no device on this computer");
  auto wanted = static_cast<size_t>(target.gpu.device);
  if (wanted >= devices.size()) {
    fail("OpenCL finds {} devices on this computer; there is no '{}'", devices.size(), target.name);
  }
  return std::make_unique<OpenclDevice>(devices[wanted]);
}

}  // namespace lathe
