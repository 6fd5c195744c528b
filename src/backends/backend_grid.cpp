// backend_grid.cpp: devices that the runtime drives. Interface: backend_grid.h.
#include "backends/backend_grid.h"

#include <set>

#include "base/error.h"

namespace lathe {
namespace {

/// Fails if a call of the runtime did.
void expect_done(int result) {
  if (result != 0) fail("{}", lathe_last_error());
}

/// An opened device. Memory may outlive the device object.
struct OpenGpu {
  const lathe_machine& machine;
  void* gpu = nullptr;

  OpenGpu(const lathe_machine& kind, long number) : machine(kind) {
    expect_done(machine.driver->open(static_cast<int>(number), &gpu));
  }
  OpenGpu(const OpenGpu&) = delete;
  OpenGpu& operator=(const OpenGpu&) = delete;
  ~OpenGpu() { machine.driver->close(gpu); }

  const lathe_driver* operator->() const { return machine.driver; }
};

class GpuMemory : public Memory {
 public:
  GpuMemory(std::shared_ptr<OpenGpu> open, long bytes)
      : open_(std::move(open)), size_(static_cast<size_t>(bytes)) {
    expect_done((*open_)->allocate(open_->gpu, bytes, &memory_));
  }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  ~GpuMemory() override { (*open_)->release(open_->gpu, memory_); }

  void write(long offset, std::span<const std::byte> bytes) override {
    expect_done((*open_)->write(open_->gpu, slot(offset), bytes.data(), count(bytes.size())));
    // The caller may change the bytes now.
    expect_done((*open_)->wait(open_->gpu));
  }
  void read(long offset, std::span<std::byte> bytes) const override {
    expect_done((*open_)->read(open_->gpu, slot(offset), bytes.data(), count(bytes.size())));
  }
  const std::byte* look() override {
    copy_.resize(size_);
    read(0, copy_);
    return copy_.data();
  }

  lathe_slot slot(long offset) const { return {memory_, offset}; }

 private:
  std::shared_ptr<OpenGpu> open_;
  size_t size_;
  uint64_t memory_ = 0;
  std::vector<std::byte> copy_;

  static int64_t count(size_t bytes) { return static_cast<int64_t>(bytes); }
};

class GpuNetwork : public DeviceNetwork {
 public:
  GpuNetwork(std::shared_ptr<OpenGpu> open, const Tables& tables, long weight_bytes,
             const std::function<void(std::byte*)>& write)
      : open_(std::move(open)),
        weights_(static_cast<size_t>(weight_bytes)),
        tables_(tables, {}, &open_->machine, weights_) {
    write(weights_.data());
    expect_done(lathe_gpu_create_on(open_->gpu, tables_.network(), &model_));
  }
  GpuNetwork(const GpuNetwork&) = delete;
  GpuNetwork& operator=(const GpuNetwork&) = delete;
  ~GpuNetwork() override { lathe_gpu_destroy(model_); }

  void run(const void* const* inputs, void* const* outputs) override {
    expect_done(lathe_gpu_run(model_, inputs, outputs));
  }
  void run_step(size_t step) override {
    expect_done(lathe_gpu_run_step(model_, static_cast<int32_t>(step)));
  }
  void change_weights(const std::function<void(std::byte*)>& write) override {
    write(weights_.data());
    expect_done(lathe_gpu_prepare(model_));
  }

 private:
  std::shared_ptr<OpenGpu> open_;
  std::vector<std::byte> weights_;
  RuntimeTables tables_;
  void* model_ = nullptr;
};

class GpuDevice : public Device {
 public:
  GpuDevice(const lathe_machine& machine, long number)
      : open_(std::make_shared<OpenGpu>(machine, number)) {}

  void load(const std::string& object) override {
    if (!loaded_.insert(object).second) return;
    lathe_module module{object.c_str(), static_cast<int64_t>(object.size())};
    expect_done((*open_)->load(open_->gpu, &module));
  }

  Kernel find(const std::string& symbol) override {
    Kernel kernel;
    expect_done((*open_)->find(open_->gpu, symbol.c_str(), &kernel.handle));
    return kernel;
  }

  std::unique_ptr<Memory> allocate(long bytes) override {
    return std::make_unique<GpuMemory>(open_, bytes);
  }

  void launch(const Launch& launch) override {
    std::vector<lathe_slot> slots;
    for (const Launch::Tensor& tensor : launch.tensors) {
      slots.push_back(static_cast<GpuMemory*>(tensor.memory)->slot(tensor.offset));
    }
    lathe_call call{launch.kernel.handle, {}, {}, slots.data(), static_cast<int32_t>(slots.size())};
    for (size_t d = 0; d < 3; ++d) {
      call.blocks[d] = static_cast<int32_t>(launch.grid.blocks[d]);
      call.threads[d] = static_cast<int32_t>(launch.grid.threads[d]);
    }
    expect_done((*open_)->launch(open_->gpu, &call));
  }

  double time(const Launch& launched) override {
    double seconds = 0;
    expect_done((*open_)->start_clock(open_->gpu));
    launch(launched);
    expect_done((*open_)->stop_clock(open_->gpu, &seconds));
    return seconds;
  }

  std::unique_ptr<DeviceNetwork> start(const Tables& network, int /*workers*/, long weight_bytes,
                                       const std::function<void(std::byte*)>& write) override {
    return std::make_unique<GpuNetwork>(open_, network, weight_bytes, write);
  }

 private:
  std::shared_ptr<OpenGpu> open_;
  std::set<std::string> loaded_;
};

}  // namespace

Grid grid_of(const Code& code) {
  return {{code.extent(Mark::block_x), code.extent(Mark::block_y), code.extent(Mark::block_z)},
          {code.extent(Mark::thread_x), code.extent(Mark::thread_y), code.extent(Mark::thread_z)}};
}

std::vector<lathe_device> devices_of(const lathe_machine& machine) {
  std::vector<lathe_device> result;
  for (int i = 0, count = machine.driver->count(); i < count; ++i) {
    lathe_device about{};
    if (machine.driver->describe(i, &about) == 0) result.push_back(about);
  }
  return result;
}

std::unique_ptr<Device> open_gpu(const lathe_machine& machine, const Target& target) {
  long wanted = std::max(target.gpu.device, 0L);
  int count = machine.driver->count();
  if (count < 0) fail("{}", lathe_last_error());
  if (wanted >= count) {
    fail("the driver finds {} devices on this computer; there is no '{}'", count, target.name);
  }
  return std::make_unique<GpuDevice>(machine, wanted);
}

}  // namespace lathe
