// runner.cpp: a compiled network in this process. Interface: Runner of compile.h.
#include "base/error.h"
#include "compile/compile.h"
#include "compile/faces.h"
#include "compile/weights.h"

namespace lathe {

struct Runner::State {
  Jit jit;
  std::vector<CompiledFace> inputs, outputs;
  std::vector<std::byte> buffer;
  std::byte* weights = nullptr;  // in the buffer, aligned
  std::vector<CompiledWeight> later;
  std::vector<lathe_step> steps;
  std::vector<lathe_place> places;
  std::vector<lathe_face> faces;  // inputs, then outputs
  lathe_network network{};
  lathe_model* model = nullptr;

  ~State() { lathe_model_destroy(model); }

  static lathe_face face(const CompiledFace& f) {
    return {f.name.c_str(), name_of(f.type.element), static_cast<int32_t>(f.type.shape.size()),
            f.type.shape.data(), count_of(f.type.shape) * size_of(f.type.element)};
  }
};

Runner::Runner(const Compiled& compiled, int threads) : Runner(compiled, threads, Graph{}) {}

Runner::Runner(const Compiled& compiled, int threads, const Graph& weights)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  for (const std::string& object : compiled.objects) s.jit.add(object);
  s.inputs = compiled.inputs;
  s.outputs = compiled.outputs;
  constexpr auto line = static_cast<size_t>(cache_line);  // weights begin at one
  s.buffer.resize(compiled.weights.size() + line);
  auto begin = reinterpret_cast<uintptr_t>(s.buffer.data());
  s.weights = s.buffer.data() + (line - begin % line) % line;
  std::copy(compiled.weights.begin(), compiled.weights.end(), s.weights);
  s.later = compiled.later;
  write_all(s.later, weights, s.weights);
  for (const CompiledStep& step : compiled.steps) {
    auto* kernel = reinterpret_cast<lathe_kernel>(s.jit.find(step.symbol));
    s.steps.push_back({kernel, static_cast<int32_t>(s.places.size()),
                       static_cast<int32_t>(step.places.size()), step.count});
    s.places.insert(s.places.end(), step.places.begin(), step.places.end());
  }
  for (const CompiledFace& f : s.inputs) s.faces.push_back(State::face(f));
  for (const CompiledFace& f : s.outputs) s.faces.push_back(State::face(f));
  s.network = {LATHE_RUNTIME_VERSION,
               compiled.name.c_str(),
               "native",
               static_cast<int32_t>(s.steps.size()),
               static_cast<int32_t>(s.places.size()),
               static_cast<int32_t>(s.inputs.size()),
               static_cast<int32_t>(s.outputs.size()),
               s.steps.data(),
               s.places.data(),
               s.faces.data(),
               s.faces.data() + s.inputs.size(),
               s.weights,
               compiled.arena_bytes,
               compiled.scratch_bytes,
               compiled.prepared_bytes,
               static_cast<int64_t>(compiled.first_step),
               nullptr};
  s.model = lathe_model_create(&s.network, threads);
  if (s.model == nullptr) fail("{}", lathe_last_error());
}

Runner::~Runner() = default;

void Runner::load(const Graph& weights) {
  write_all(state_->later, weights, state_->weights);
  if (lathe_model_prepare(state_->model) != 0) fail("{}", lathe_last_error());
}

void Runner::run(const void* const* inputs, void* const* outputs) {
  if (lathe_model_run(state_->model, inputs, outputs) != 0) fail("{}", lathe_last_error());
}

void Runner::run_step(size_t step) {
  if (lathe_model_run_step(state_->model, static_cast<int32_t>(step)) != 0) {
    fail("{}", lathe_last_error());
  }
}

std::vector<Array> Runner::run(const std::vector<Array>& inputs) {
  return run_on_arrays(state_->inputs, state_->outputs, inputs,
                       [&](const void* const* from, void* const* to) { run(from, to); });
}

}  // namespace lathe
