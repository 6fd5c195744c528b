// runner.cpp: a compiled network on a machine of this computer. Interface: Runner of compile.h.
#include "backends/backend.h"
#include "compile/compile.h"
#include "compile/faces.h"
#include "compile/tables.h"
#include "compile/weights.h"

namespace lathe {

struct Runner::State {
  std::vector<CompiledFace> inputs, outputs;
  std::vector<CompiledWeight> later;
  std::unique_ptr<Device> device;
  std::unique_ptr<DeviceNetwork> network;
};

Runner::Runner(const Compiled& compiled, int threads) : Runner(compiled, threads, Graph{}) {}

Runner::Runner(const Compiled& compiled, int threads, const Graph& weights)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.inputs = compiled.inputs;
  s.outputs = compiled.outputs;
  s.later = compiled.later;
  s.device = make_device(compiled.target);
  for (const std::string& object : compiled.objects) s.device->load(object);
  s.network = s.device->start(tables_of(compiled, compiled.name), threads,
                              static_cast<long>(compiled.weights.size()), [&](std::byte* to) {
                                std::copy(compiled.weights.begin(), compiled.weights.end(), to);
                                write_all(s.later, weights, to);
                              });
}

Runner::~Runner() = default;

void Runner::load(const Graph& weights) {
  state_->network->change_weights([&](std::byte* to) { write_all(state_->later, weights, to); });
}

void Runner::run(const void* const* inputs, void* const* outputs) {
  state_->network->run(inputs, outputs);
}

void Runner::run_step(size_t step) { state_->network->run_step(step); }

std::vector<Array> Runner::run(const std::vector<Array>& inputs) {
  return run_on_arrays(state_->inputs, state_->outputs, inputs,
                       [&](const void* const* from, void* const* to) { run(from, to); });
}

}  // namespace lathe
