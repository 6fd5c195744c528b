// llvm_device.cpp: kernels and networks in this process. Interface: llvm_device.h.
#include "backends/llvm_device.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <chrono>
#include <cstring>

#include "backends/backend_runtime.h"
#include "backends/llvm_machine.h"
#include "base/error.h"

namespace lathe {
namespace {

[[noreturn]] void fail_with(llvm::Error error) {
  fail("code generation: {}", llvm::toString(std::move(error)));
}

lathe_kernel function_of(Kernel kernel) { return reinterpret_cast<lathe_kernel>(kernel.handle); }

/// Memory of the process, from the beginning of a cache line on.
class HostMemory : public Memory {
 public:
  explicit HostMemory(long size) : bytes_(static_cast<size_t>(size + cache_line)) {
    constexpr auto line = static_cast<uintptr_t>(cache_line);
    begin_ = bytes_.data() + (line - reinterpret_cast<uintptr_t>(bytes_.data()) % line) % line;
  }

  void write(long offset, std::span<const std::byte> bytes) override {
    std::copy(bytes.begin(), bytes.end(), begin_ + offset);
  }
  void read(long offset, std::span<std::byte> bytes) const override {
    std::copy_n(begin_ + offset, bytes.size(), bytes.begin());
  }
  const std::byte* look() override { return begin_; }

  std::byte* begin() { return begin_; }

 private:
  std::vector<std::byte> bytes_;
  std::byte* begin_;
};

/// A network that the runtime runs.
class HostNetwork : public DeviceNetwork {
 public:
  HostNetwork(const Tables& tables, const std::vector<lathe_kernel>& kernels, int workers,
              long weight_bytes, const std::function<void(std::byte*)>& write)
      : weights_(weight_bytes),
        tables_(tables, kernels, nullptr, {weights_.begin(), static_cast<size_t>(weight_bytes)}) {
    write(weights_.begin());
    model_ = {lathe_model_create(tables_.network(), workers), lathe_model_destroy};
    if (!model_) fail("{}", lathe_last_error());
  }

  void run(const void* const* inputs, void* const* outputs) override {
    if (lathe_model_run(model_.get(), inputs, outputs) != 0) fail("{}", lathe_last_error());
  }

  void run_step(size_t step) override {
    if (lathe_model_run_step(model_.get(), static_cast<int32_t>(step)) != 0) {
      fail("{}", lathe_last_error());
    }
  }

  void change_weights(const std::function<void(std::byte*)>& write) override {
    write(weights_.begin());
    if (lathe_model_prepare(model_.get()) != 0) fail("{}", lathe_last_error());
  }

 private:
  HostMemory weights_;
  RuntimeTables tables_;
  std::unique_ptr<lathe_model, void (*)(lathe_model*)> model_{nullptr, lathe_model_destroy};
};

class Host : public Device {
 public:
  Host() {
    initialise_llvm();
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit) fail_with(jit.takeError());
    auto symbols = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
        (*jit)->getDataLayout().getGlobalPrefix());
    if (!symbols) fail_with(symbols.takeError());
    (*jit)->getMainJITDylib().addGenerator(std::move(*symbols));
    jit_ = std::move(*jit);
  }

  void load(const std::string& object) override {
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, "kernels");
    if (auto error = jit_->addObjectFile(std::move(buffer))) fail_with(std::move(error));
  }

  Kernel find(const std::string& symbol) override {
    auto address = jit_->lookup(symbol);
    if (!address) fail_with(address.takeError());
    return {address->toPtr<void*>()};
  }

  std::unique_ptr<Memory> allocate(long bytes) override {
    return std::make_unique<HostMemory>(bytes);
  }

  void launch(const Launch& launch) override { seconds_of(launch); }
  double time(const Launch& launch) override { return seconds_of(launch); }

  std::unique_ptr<DeviceNetwork> start(const Tables& network, int workers, long weight_bytes,
                                       const std::function<void(std::byte*)>& write) override {
    std::vector<lathe_kernel> kernels;
    for (const TableStep& step : network.steps) kernels.push_back(function_of(find(step.symbol)));
    return std::make_unique<HostNetwork>(network, kernels, workers, weight_bytes, write);
  }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<HostMemory> scratch_;
  long scratch_bytes_ = 0;

  std::byte* scratch_of(long bytes) {
    if (bytes == 0) return nullptr;
    if (bytes > scratch_bytes_) {
      scratch_ = std::make_unique<HostMemory>(bytes);
      scratch_bytes_ = bytes;
    }
    return scratch_->begin();
  }

  double seconds_of(const Launch& launch) {
    std::vector<void*> tensors;
    for (const Launch::Tensor& tensor : launch.tensors) {
      tensors.push_back(static_cast<HostMemory*>(tensor.memory)->begin() + tensor.offset);
    }
    std::byte* scratch = scratch_of(launch.scratch_bytes);
    auto begin = std::chrono::steady_clock::now();
    function_of(launch.kernel)(tensors.data(), scratch, 0, launch.count);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

}  // namespace

std::unique_ptr<Device> llvm_device(const Target& /*target*/) { return std::make_unique<Host>(); }

}  // namespace lathe
