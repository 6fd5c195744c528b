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

/// Bytes of the longest vectors, and of a cache line.
constexpr size_t alignment = 64;

}  // namespace

StepRunner::Memory::Memory(long size) : bytes(static_cast<size_t>(size) + alignment) {
  auto first = reinterpret_cast<uintptr_t>(bytes.data());
  begin = bytes.data() + (alignment - first % alignment) % alignment;
}

StepRunner::StepRunner(const Compiled& compiled)
    : compiled_(compiled),
      weights_(static_cast<long>(compiled.weights.size())),
      arena_(compiled.arena_bytes),
      prepared_(compiled.prepared_bytes),
      scratch_(compiled.scratch_bytes) {
  for (const std::string& object : compiled.objects) jit_.add(object);
  for (const CompiledStep& step : compiled.steps) {
    kernels_.push_back(reinterpret_cast<lathe_kernel>(jit_.find(step.symbol)));
  }
  std::copy(compiled.weights.begin(), compiled.weights.end(), weights_.begin);
  for (size_t i = 0; i < compiled.inputs.size(); ++i) {
    Array input = random_input(compiled.inputs[i], i);
    inputs_.emplace_back(static_cast<long>(input.bytes().size()));
    std::copy(input.bytes().begin(), input.bytes().end(), inputs_.back().begin);
  }
  for (const CompiledFace& face : compiled.outputs) {
    outputs_.emplace_back(count_of(face.type.shape) * size_of(face.type.element));
  }
  for (size_t i = 0; i < compiled.first_step; ++i) run(i);
}

std::byte* StepRunner::address(const lathe_place& place) {
  auto index = static_cast<size_t>(place.index);
  switch (place.where) {
    case LATHE_WEIGHTS:
      return weights_.begin + place.offset;
    case LATHE_INPUT:
      return inputs_.at(index).begin + place.offset;
    case LATHE_OUTPUT:
      return outputs_.at(index).begin + place.offset;
    case LATHE_PREPARED:
      return prepared_.begin + place.offset;
    default:
      return arena_.begin + place.offset;
  }
}

void StepRunner::run(size_t step) {
  const CompiledStep& what = compiled_.steps[step];
  std::vector<void*> tensors;
  for (const lathe_place& place : what.places) tensors.push_back(address(place));
  kernels_[step](tensors.data(), scratch_.begin, 0, what.count);
}

}  // namespace lathe
