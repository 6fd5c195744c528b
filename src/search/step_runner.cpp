// step_runner.cpp: networks step by step. Interface: step_runner.h.
#include "search/step_runner.h"

#include <algorithm>

#include "base/array.h"
#include "base/random.h"

namespace lathe {
namespace {

Array random_input(const CompiledFace& face, size_t number) {
  Random random(number + 1, face.name);
  auto count = static_cast<size_t>(count_of(face.type.shape));
  if (is_float(face.type.element)) {
    std::vector<double> values(count);
    for (double& value : values) value = random.normal();
    return Array::of_reals(face.type.element, face.type.shape, values);
  }
  std::vector<long> values(count);
  for (long& value : values) value = static_cast<long>(random.below(2));
  return Array::of_integers(face.type.element, face.type.shape, values);
}

}  // namespace

StepRunner::StepRunner(const Compiled& compiled)
    : compiled_(compiled),
      device_(make_device(compiled.target)),
      weights_(device_->allocate(static_cast<long>(compiled.weights.size()))),
      arena_(device_->allocate(compiled.arena_bytes)),
      prepared_(device_->allocate(compiled.prepared_bytes)) {
  for (const std::string& object : compiled.objects) device_->load(object);
  for (const CompiledStep& step : compiled.steps) kernels_.push_back(device_->find(step.symbol));
  weights_->write(0, compiled.weights);
  for (size_t i = 0; i < compiled.inputs.size(); ++i) {
    Array input = random_input(compiled.inputs[i], i);
    inputs_.push_back(device_->allocate(static_cast<long>(input.bytes().size())));
    inputs_.back()->write(0, input.bytes());
  }
  for (const CompiledFace& face : compiled.outputs) {
    outputs_.push_back(device_->allocate(count_of(face.type.shape) * size_of(face.type.element)));
  }
  for (size_t i = 0; i < compiled.first_step; ++i) run(i);
}

Memory& StepRunner::memory_of(const lathe_place& place) {
  auto index = static_cast<size_t>(place.index);
  switch (place.where) {
    case LATHE_WEIGHTS:
      return *weights_;
    case LATHE_INPUT:
      return *inputs_.at(index);
    case LATHE_OUTPUT:
      return *outputs_.at(index);
    case LATHE_PREPARED:
      return *prepared_;
    default:
      return *arena_;
  }
}

const std::byte* StepRunner::address(const lathe_place& place) {
  return memory_of(place).look() + place.offset;
}

void StepRunner::run(size_t step) {
  const CompiledStep& what = compiled_.steps[step];
  Launch launch{kernels_[step], {}, what.count, compiled_.scratch_bytes};
  for (const lathe_place& place : what.places) {
    launch.tensors.push_back({&memory_of(place), place.offset});
  }
  device_->launch(launch);
}

}  // namespace lathe
