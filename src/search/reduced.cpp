// reduced.cpp: smaller versions of units, and what they must compute. Interface: reduced.h.
#include "search/reduced.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "nest/footprint.h"
#include "nest/interpret.h"
#include "search/sampled_outputs.h"
#include "search/unit_network.h"

namespace lathe {
namespace {

/// By what the extents of a call are divided.
struct Cut {
  long channels, positions;
};

/// Ways to cut a unit, the mildest first. 7 is for the images of ImageNet, of 7, 14, 28, ... rows.
constexpr Cut cuts[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 4}, {4, 1}, {2, 4},  {4, 2},  {4, 4},
                        {8, 2}, {4, 7}, {4, 8}, {8, 4}, {8, 1}, {8, 8}, {16, 1}, {16, 4}, {32, 1}};

/// Rows and columns that must be left, so that tiles have neighbours on both sides.
constexpr long least_positions = 4;

/// Inputs are integers up to this size, of either sign: so f32 hardly rounds the sums of products.
constexpr long largest_input = 4;

/// What rounding may change, relative to the largest element. A wrong kernel changes far more.
constexpr double tolerance = 5e-4;

long block_of(const Layout& layout) { return layout.axes.size() < 2 ? 1 : layout.axes[1].block; }

/// Divides an extent, if that leaves whole blocks, and enough for tiles to have neighbours.
bool divide(long& extent, long by, long block, long least) {
  if (extent == 1) return true;
  if (extent % by != 0 || extent / by % block != 0 || extent / by < least) return by == 1;
  extent /= by;
  return true;
}

/// Cuts the shape of an operand; returns whether it could.
bool cut_shape(Shape& shape, const Cut& cut, bool weight, long block) {
  if (weight && shape.size() >= 2) {
    return divide(shape[0], cut.channels, 1, 1) && divide(shape[1], cut.channels, 1, 1);
  }
  if (shape.size() == 1) return divide(shape[0], cut.channels, 1, 1);
  if (shape.size() >= 2 && !divide(shape[1], cut.channels, block, 1)) return false;
  for (size_t i = 2; i < shape.size(); ++i) {
    if (!divide(shape[i], cut.positions, 1, least_positions)) return false;
  }
  return true;
}

/// Returns the layout of a smaller tensor in the same blocks, with its border.
Layout layout_like(const Layout& layout, Shape shape, const std::vector<Pad>& border) {
  for (size_t i = 0; i < border.size(); ++i) shape[i] += border[i].before + border[i].after;
  return blocked_layout(shape, block_of(layout));
}

std::optional<Unit> with_cut(const Unit& unit, const Cut& cut) {
  std::vector<std::optional<Operand>> operands;
  Unit result = unit;
  size_t there = 0;
  for (size_t i = 0; i < unit.call.inputs(); ++i) {
    operands.emplace_back();
    if (!unit.call.has(i)) continue;
    operands.back() = unit.call.operand(i);
    Shape& shape = operands.back()->type.shape;
    if (there >= unit.inputs.size()) return std::nullopt;
    if (!cut_shape(shape, cut, unit.constant[there], block_of(unit.inputs[there]))) {
      return std::nullopt;
    }
    result.inputs[there] = layout_like(unit.inputs[there], shape, unit.borders[there]);
    ++there;
  }
  result.call = Call(unit.call.op(), std::move(operands), unit.call.attributes());
  std::vector<Type> types = infer(result.call);
  if (types.size() != unit.outputs.size()) return std::nullopt;
  for (size_t i = 0; i < types.size(); ++i) {
    result.outputs[i] = layout_like(unit.outputs[i], types[i].shape, {});
  }
  result.key = "reduced " + print(result.call);
  return result;
}

/// Visits the elements of a tensor: their number in row-major order, and where they lie.
template <class Visit>
void for_each_element(const Tensor& tensor, const Layout& layout, Visit visit) {
  std::vector<long> at(tensor.shape.size(), 0);
  for (size_t k = 0;; ++k) {
    visit(k, static_cast<size_t>(offset_of(at, layout)));
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == tensor.shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

/// Puts the interpreter's values where the unit's tensors lie.
UnitData data_of(const Nest& nest, const std::vector<Layout>& layouts,
                 const Buffers<double>& buffers) {
  UnitData data(nest.tensors().size());
  for (size_t t = 0; t < data.size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    if (tensor.role != Role::input && tensor.role != Role::weight) continue;
    data[t].resize(static_cast<size_t>(std::max(1L, layouts[t].size)) * sizeof(float));
    for_each_element(tensor, layouts[t], [&](size_t k, size_t offset) {
      auto value = static_cast<float>(buffers[t][k]);
      std::memcpy(data[t].data() + offset * sizeof value, &value, sizeof value);
    });
  }
  return data;
}

bool is_all_f32(const Nest& nest) {
  return std::all_of(nest.tensors().begin(), nest.tensors().end(),
                     [](const Tensor& tensor) { return tensor.element == Element::f32; });
}

constexpr const char* not_as_chosen = "it cannot be scheduled so at that size";

/// Returns the code of a unit for a choice; null if it cannot be scheduled so.
std::shared_ptr<const Made> made_as_chosen(const Unit& unit, const Choice& choice,
                                           const Target& target) {
  CompileOptions options;
  options.target = target;
  options.cache = false;
  bool none = choice.schedule.empty();  // no template fits: the loops run as they are
  if (!none) options.choose = [&](const std::string&) { return choice; };
  auto made = make_unit(unit, options);
  return made->code.as_chosen || (none && made->code.schedule.empty()) ? made : nullptr;
}

}  // namespace

std::optional<Unit> reduced(const Unit& unit, long products) {
  if (unit.border_only) return std::nullopt;
  Context context;
  for (const Cut& cut : cuts) {
    try {
      auto smaller = with_cut(unit, cut);
      if (smaller && operations(nest_of(context, *smaller).nest).macs <= products) return smaller;
    } catch (const UserError&) {
      continue;  // the operands do not fit each other any more
    }
  }
  return std::nullopt;
}

UnitComparison compare_with_interpreter(const Unit& unit, const Choice& choice,
                                        const Target& target) {
  Context context;
  auto [nest, layouts] = nest_of(context, unit);
  if (!is_all_f32(nest)) return {"", "it has elements that are no f32"};
  auto made = made_as_chosen(unit, choice, target);
  if (!made) return {"", not_as_chosen};
  Buffers<double> buffers = make_buffers<double>(nest);
  fill_inputs(nest, buffers, 1, largest_input);
  UnitRunner runner(*made, data_of(nest, layouts, buffers), target, 1);
  interpret(nest, buffers);
  size_t output = 0;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    if (nest.tensors()[t].role != Role::output) continue;
    std::vector<float> is(buffers[t].size()), must(buffers[t].begin(), buffers[t].end());
    const auto& bytes = runner.outputs()[output++];
    for_each_element(nest.tensors()[t], layouts[t], [&](size_t k, size_t offset) {
      std::memcpy(&is[k], bytes.data() + offset * sizeof(float), sizeof(float));
    });
    std::string wrong = difference(is.data(), must.data(), is.size());
    if (!wrong.empty()) return {wrong, ""};
  }
  return {};
}

UnitComparison compare_some(const Unit& unit, const Choice& choice, const Target& target) {
  auto made = made_as_chosen(unit, choice, target);
  if (!made) return {"", not_as_chosen};
  UnitData data = random_data(unit);
  TensorAddresses given, computed;
  for (const auto& bytes : data) given.push_back(bytes.empty() ? nullptr : bytes.data());
  SampledOutputs must(unit, given);
  if (!must.unchecked().empty()) return {"", must.unchecked()};
  UnitRunner runner(*made, std::move(data), target, 1);
  size_t output = 0;
  for (size_t t = 0; t < given.size(); ++t) {
    bool written = made->code.tensors[t].role == Role::output;
    computed.push_back(written ? runner.outputs()[output++].data() : nullptr);
  }
  return {must.difference(computed, algebraic_error(unit, made->code.recipe)), ""};
}

UnitComparison compare_any_size(const Unit& unit, const Choice& choice, const Target& target) {
  if (auto smaller = reduced(unit)) {
    UnitComparison small = compare_with_interpreter(*smaller, choice, target);
    if (small.unchecked.empty()) return small;
  }
  return compare_some(unit, choice, target);
}

std::string difference(const float* is, const float* must, size_t count) {
  double largest = 0;
  for (size_t k = 0; k < count; ++k) {
    if (std::isfinite(must[k])) largest = std::max(largest, std::abs(static_cast<double>(must[k])));
  }
  for (size_t k = 0; k < count; ++k) {
    bool same = is[k] == must[k] || (std::isnan(is[k]) && std::isnan(must[k]));
    if (same || std::abs(static_cast<double>(is[k]) - must[k]) <= tolerance * largest) continue;
    return fmt::format("element {} is {} instead of {}", k, is[k], must[k]);
  }
  return "";
}

}  // namespace lathe
