// unit_network.cpp: one unit as a network. Interface: unit_network.h.
#include "search/unit_network.h"

#include <algorithm>
#include <cstring>

#include "backends/backend_grid.h"
#include "base/array.h"
#include "base/random.h"
#include "runtime/job.h"
#include "runtime/made_up.h"

namespace lathe {
namespace {

/// Bytes of the longest vectors, and of a cache line.
constexpr long alignment = 64;

long aligned(long bytes) { return (bytes + alignment - 1) / alignment * alignment; }

long bytes_of(const NodeCode& code, size_t t) {
  return std::max(1L, code.layouts[t].size) * size_of(code.tensors[t].element);
}

std::vector<std::byte> random_bytes(Element element, long count, Random& random) {
  auto n = static_cast<size_t>(count);
  if (element == Element::f32) {
    std::vector<float> values(n);
    for (float& x : values) x = static_cast<float>(2 * random.uniform() - 1);
    std::vector<std::byte> bytes(sizeof(float) * n);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  std::vector<long> values(n);
  for (long& x : values) x = static_cast<long>(random.below(2));
  Array array = Array::of_integers(element, {count}, values);
  return {array.bytes().begin(), array.bytes().end()};
}

/// Puts the network together: weights one after the other, then for each copy the steps. What needs
/// weights alone is made when the network is loaded, as in any other. Without data, weights are
/// given later.
class Building {
 public:
  Building(const Made& made, const UnitData* data, const Target& target)
      : made_(made), code_(made.code), data_(data) {
    result_.name = "unit";
    result_.target = target;
    if (!made.object.empty()) result_.objects.push_back(made.object);
  }

  Compiled run(long copies) {
    places_.resize(code_.tensors.size());
    for (size_t t = 0; t < code_.tensors.size(); ++t) add_tensor(t);
    for (const Repacking& p : code_.repackings) add_repacked(p);
    for (size_t k = 0; k < code_.kernels.size(); ++k) {
      if (code_.once[k]) reserve_prepared(k);
    }
    auto weights = static_cast<long>(result_.weights.size());
    long prepared = result_.prepared_bytes;
    result_.weights.resize(static_cast<size_t>(weights * copies));
    result_.prepared_bytes *= copies;
    for (long copy = 1; copy < copies; ++copy)
      std::copy_n(result_.weights.begin(), weights, result_.weights.begin() + copy * weights);
    for (bool once : {true, false}) {
      for (long copy = 0; copy < copies; ++copy) add_steps(once, copy * weights, copy * prepared);
      if (once) result_.first_step = result_.steps.size();
    }
    return std::move(result_);
  }

 private:
  const Made& made_;
  const NodeCode& code_;
  const UnitData* data_;  // null: given later
  Compiled result_;
  std::vector<lathe_place> places_;

  /// Does a kernel read the weights as they are, not only as they were repacked?
  bool is_read(size_t t) const {
    return std::any_of(code_.kernels.begin(), code_.kernels.end(), [&](const Code& kernel) {
      std::vector<size_t> given = arguments_of(kernel);
      return std::find(given.begin(), given.end(), t) != given.end();
    });
  }

  lathe_place add_weights(long bytes) {
    auto offset = static_cast<long>(result_.weights.size());
    result_.weights.resize(static_cast<size_t>(offset + aligned(bytes)));
    return {LATHE_WEIGHTS, 0, offset};
  }

  void add_tensor(size_t t) {
    const Tensor& tensor = code_.tensors[t];
    long bytes = bytes_of(code_, t);
    CompiledFace face{tensor.name, {tensor.element, {std::max(1L, code_.layouts[t].size)}}};
    switch (tensor.role) {
      case Role::input:
        places_[t] = {LATHE_INPUT, static_cast<int32_t>(result_.inputs.size()), 0};
        result_.inputs.push_back(face);
        return;
      case Role::output:
        places_[t] = {LATHE_OUTPUT, static_cast<int32_t>(result_.outputs.size()), 0};
        result_.outputs.push_back(face);
        return;
      case Role::weight:
        if (!is_read(t)) return;
        places_[t] = add_weights(bytes);
        if (data_ == nullptr) {
          add_later(t, places_[t].offset, std::nullopt);
        } else {
          std::copy((*data_)[t].begin(), (*data_)[t].end(),
                    result_.weights.begin() + places_[t].offset);
        }
        return;
      case Role::constant: {
        places_[t] = add_weights(bytes);
        result_.pieces.push_back({places_[t].offset, bytes});
        Array values = Array::of_reals(tensor.element, tensor.shape, tensor.values);
        std::copy(values.bytes().begin(), values.bytes().end(),
                  result_.weights.begin() + places_[t].offset);
        return;
      }
      default:
        places_[t] = {LATHE_ARENA, 0, result_.arena_bytes};
        result_.arena_bytes += aligned(bytes);
    }
  }

  /// Notes a weight whose data are given later. Its name is the number of its tensor.
  void add_later(size_t t, long offset, const std::optional<Repacking>& repacking) {
    Type type{code_.tensors[t].element, {std::max(1L, code_.layouts[t].size)}};
    result_.later.push_back({std::to_string(t), type, offset, repacking});
  }

  void add_repacked(const Repacking& p) {
    places_[p.to] = add_weights(bytes_of(code_, p.to));
    if (data_ == nullptr) return add_later(p.from, places_[p.to].offset, p);
    repack(p, (*data_)[p.from].data(), result_.weights.data() + places_[p.to].offset,
           size_of(code_.tensors[p.to].element));
  }

  /// Gives the local tensors of a kernel that runs once a place that no run changes.
  void reserve_prepared(size_t kernel) {
    for (size_t t : arguments_of(code_.kernels[kernel])) {
      if (code_.tensors[t].role != Role::local || places_[t].where != LATHE_ARENA) continue;
      places_[t] = {LATHE_PREPARED, 0, result_.prepared_bytes};
      result_.prepared_bytes += aligned(bytes_of(code_, t));
    }
  }

  /// Adds the kernels that run once, or the others, for a copy whose weights lie further on.
  void add_steps(bool once, long weights, long prepared) {
    for (size_t k = 0; k < code_.kernels.size(); ++k) {
      if (code_.once[k] != once) continue;
      CompiledStep step{
          "unit", made_.symbols[k], {}, code_.kernels[k].count(), grid_of(code_.kernels[k])};
      for (size_t t : arguments_of(code_.kernels[k])) {
        lathe_place place = places_[t];
        if (place.where == LATHE_WEIGHTS) place.offset += weights;
        if (place.where == LATHE_PREPARED) place.offset += prepared;
        step.places.push_back(place);
      }
      result_.scratch_bytes = std::max(result_.scratch_bytes, code_.kernels[k].scratch_bytes);
      result_.steps.push_back(std::move(step));
    }
  }
};

}  // namespace

UnitData random_data(const Unit& unit) {
  Context context;
  auto [nest, layouts] = nest_of(context, unit);
  UnitData data(nest.tensors().size());
  for (size_t t = 0; t < data.size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    if (tensor.role != Role::input && tensor.role != Role::weight) continue;
    Random random(t + 1, unit.key);
    data[t] = random_bytes(tensor.element, std::max(1L, layouts[t].size), random);
  }
  return data;
}

UnitData made_up_data(const Unit& unit) {
  Context context;
  auto [nest, layouts] = nest_of(context, unit);
  UnitData data(nest.tensors().size());
  uint32_t inputs = 0;
  for (size_t t = 0; t < data.size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    if (tensor.role != Role::input && tensor.role != Role::weight) continue;
    uint32_t seed = tensor.role == Role::input ? seed_of_input(inputs++) : seed_of_weight(t);
    long count = std::max(1L, layouts[t].size);
    data[t].resize(static_cast<size_t>(count * size_of(tensor.element)));
    lathe_numbers type = lathe_numbers_named(name_of(tensor.element));
    if (type == LATHE_NO_NUMBERS) continue;
    lathe_make_up_from(seed, type, data[t].data(), count, LATHE_MOST_MADE_UP);
  }
  return data;
}

Compiled unit_network(const Made& made, const UnitData& data, const Target& target, long copies) {
  return Building(made, &data, target).run(copies);
}

Compiled unit_network_later(const Made& made, const Target& target) {
  return Building(made, nullptr, target).run(1);
}

UnitRunner::UnitRunner(const Made& made, UnitData data, const Target& target, int threads,
                       long copies)
    : data_(std::move(data)),
      network_(unit_network(made, data_, target, copies)),
      runner_(network_, threads),
      kernels_((network_.steps.size() - network_.first_step) / static_cast<size_t>(copies)),
      next_(network_.first_step) {
  std::vector<const void*> from;
  std::vector<void*> to;
  for (size_t t = 0; t < made.code.tensors.size(); ++t) {
    if (made.code.tensors[t].role == Role::input) from.push_back(data_[t].data());
  }
  for (const CompiledFace& face : network_.outputs) {
    outputs_.emplace_back(
        static_cast<size_t>(count_of(face.type.shape) * size_of(face.type.element)));
  }
  for (auto& output : outputs_) to.push_back(output.data());
  runner_.run(from.data(), to.data());
}

void UnitRunner::run() {
  for (size_t k = 0; k < kernels_; ++k) runner_.run_step(next_ + k);
  next_ += kernels_;
  if (next_ >= network_.steps.size()) next_ = network_.first_step;
}

long weight_bytes(const Made& made) {
  long bytes = 0;
  for (size_t t = 0; t < made.code.tensors.size(); ++t) {
    if (made.code.tensors[t].role == Role::weight) bytes += aligned(bytes_of(made.code, t));
  }
  return bytes;
}

}  // namespace lathe
