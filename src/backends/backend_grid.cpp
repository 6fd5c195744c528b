// backend_grid.cpp: networks of launches. Interface: backend_grid.h.
#include "backends/backend_grid.h"

#include "base/error.h"

namespace lathe {
namespace {

class Launches : public DeviceNetwork {
 public:
  Launches(Device& device, Tables tables, long weight_bytes,
           const std::function<void(std::byte*)>& write)
      : device_(device),
        tables_(std::move(tables)),
        host_weights_(static_cast<size_t>(weight_bytes)),
        weights_(device.allocate(weight_bytes)),
        arena_(device.allocate(tables_.arena_bytes)),
        prepared_(device.allocate(tables_.prepared_bytes)) {
    for (const TableFace& face : tables_.inputs) inputs_.push_back(device.allocate(face.bytes));
    for (const TableFace& face : tables_.outputs) outputs_.push_back(device.allocate(face.bytes));
    for (const TableStep& step : tables_.steps) steps_.push_back(launch_of(step));
    change_weights(write);
  }

  void run(const void* const* inputs, void* const* outputs) override {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      auto size = static_cast<size_t>(tables_.inputs[i].bytes);
      inputs_[i]->write(0, {static_cast<const std::byte*>(inputs[i]), size});
    }
    for (size_t i = first(); i < steps_.size(); ++i) device_.launch(steps_[i]);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      auto size = static_cast<size_t>(tables_.outputs[i].bytes);
      outputs_[i]->read(0, {static_cast<std::byte*>(outputs[i]), size});
    }
  }

  void run_step(size_t step) override { device_.time(steps_.at(step)); }

  void change_weights(const std::function<void(std::byte*)>& write) override {
    write(host_weights_.data());
    weights_->write(0, host_weights_);
    for (size_t i = 0; i < first(); ++i) device_.launch(steps_[i]);
  }

 private:
  Device& device_;
  Tables tables_;
  std::vector<std::byte> host_weights_;
  std::unique_ptr<Memory> weights_, arena_, prepared_;
  std::vector<std::unique_ptr<Memory>> inputs_, outputs_;
  std::vector<Launch> steps_;

  size_t first() const { return static_cast<size_t>(tables_.first_step); }

  Memory* memory_of(const lathe_place& place) const {
    auto index = static_cast<size_t>(place.index);
    switch (place.where) {
      case LATHE_ARENA:
        return arena_.get();
      case LATHE_WEIGHTS:
        return weights_.get();
      case LATHE_INPUT:
        return inputs_.at(index).get();
      case LATHE_OUTPUT:
        return outputs_.at(index).get();
      case LATHE_PREPARED:
        return prepared_.get();
      default:
        fail("a tensor lies at an unknown place ({})", place.where);
    }
  }

  Launch launch_of(const TableStep& step) const {
    Launch launch{device_.find(step.symbol), {}, step.count, 0, step.grid};
    for (int32_t i = 0; i < step.tensors; ++i) {
      const lathe_place& place = tables_.places[static_cast<size_t>(step.first + i)];
      launch.tensors.push_back({memory_of(place), place.offset});
    }
    return launch;
  }
};

}  // namespace

Grid grid_of(const Code& code) {
  return {{code.extent(Mark::block_x), code.extent(Mark::block_y), code.extent(Mark::block_z)},
          {code.extent(Mark::thread_x), code.extent(Mark::thread_y), code.extent(Mark::thread_z)}};
}

std::unique_ptr<DeviceNetwork> start_launches(Device& device, const Tables& network,
                                              long weight_bytes,
                                              const std::function<void(std::byte*)>& write) {
  return std::make_unique<Launches>(device, network, weight_bytes, write);
}

}  // namespace lathe
