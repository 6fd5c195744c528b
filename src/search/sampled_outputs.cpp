// sampled_outputs.cpp: what the interpreter says of some outputs. Interface: sampled_outputs.h.
#include "search/sampled_outputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/random.h"
#include "compile/sums.h"
#include "nest/interpret_elements.h"
#include "nest/starts.h"
#include "transforms/transform.h"
#include "transforms/transform_toom.h"

namespace lathe {
namespace {

/// The bound of an algebraic step is what to expect of many outputs: single ones may be beyond it.
constexpr double beyond_expected = 4;

/// Kernels compute in f32, or in f64, and may keep what is local in any type that is there.
double unit_of(const Nest& nest) {
  bool wide = true;
  double largest = 0;
  for (const Tensor& tensor : nest.tensors()) {
    if (!is_float(tensor.element)) continue;
    wide = wide && tensor.element == Element::f64;
    bool kept = tensor.role == Role::local || tensor.role == Role::output;
    if (kept) largest = std::max(largest, unit_of(tensor.element));
  }
  return std::max(largest, wide ? unit_of(Element::f64) : unit_of(Element::f32));
}

std::vector<long> index_of(const Shape& shape, long number) {
  std::vector<long> index(shape.size());
  for (size_t i = index.size(); i-- > 0; number /= shape[i]) index[i] = number % shape[i];
  return index;
}

long number_of(const Shape& shape, const std::vector<long>& index) {
  long number = 0;
  for (size_t i = 0; i < shape.size(); ++i) number = number * shape[i] + index[i];
  return number;
}

bool is_in_border(const Unit& unit, const std::vector<long>& index) {
  for (size_t i = 0; i < unit.border.size(); ++i) {
    long inside = index[i] - unit.border[i].before;
    if (inside < 0 || inside >= unit.border_type.shape[i]) return true;
  }
  return false;
}

const std::byte* address_of(const Tensor& tensor, const Layout& layout, const std::byte* begin,
                            long number) {
  return begin + offset_of(index_of(tensor.shape, number), layout) * size_of(tensor.element);
}

template <class T>
T element_at(Element element, const std::byte* at) {
  if (element == Element::f32) {
    float value = 0;
    std::memcpy(&value, at, sizeof value);
    return static_cast<T>(value);
  }
  Array one = Array::of_bytes(element, {1}, {at, static_cast<size_t>(size_of(element))});
  if constexpr (std::is_integral_v<T>) return one.integer();
  return static_cast<T>(one.real());
}

/// Returns a value as it is stored in an element.
double stored(Element element, double value) {
  return Array::of_reals(element, {1}, std::vector<double>{value}).real();
}
long stored(Element element, long value) {
  return Array::of_integers(element, {1}, std::vector<long>{value}).integer();
}

}  // namespace

std::vector<long> sampled_elements(const Shape& shape, size_t count, uint64_t seed) {
  long all = count_of(shape);
  std::vector<long> result;
  if (all <= static_cast<long>(count)) {
    for (long i = 0; i < all; ++i) result.push_back(i);
    return result;
  }
  Random random(seed, "sampled elements");
  std::set<long> seen;
  auto add = [&](const std::vector<long>& index) {
    long number = number_of(shape, index);
    if (seen.insert(number).second) result.push_back(number);
  };
  std::vector<long> index(shape.size());
  // Of each dimension its first or last index; in shapes of many dimensions not all of them.
  constexpr unsigned most_corners = 32;  // a third of the elements that are compared
  for (unsigned corner = 0; corner < std::min(1U << shape.size(), most_corners); ++corner) {
    for (size_t i = 0; i < shape.size(); ++i) {
      index[i] = (corner >> (shape.size() - 1 - i) & 1U) != 0 ? shape[i] - 1 : 0;
    }
    add(index);
  }
  // Every other one is at an edge, as far as there are new ones: a vector has two.
  for (size_t tried = 0; result.size() < count; ++tried) {
    for (size_t i = 0; i < shape.size(); ++i) {
      index[i] = static_cast<long>(random.below(static_cast<uint64_t>(shape[i])));
    }
    if (tried % 2 == 0) {
      size_t edge = random.below(shape.size());
      index[edge] = random.below(2) == 0 ? 0 : shape[edge] - 1;
    }
    add(index);
  }
  return result;
}

double algebraic_error(const Unit& unit, const std::string& recipe) {
  Recipe steps = parse_recipe(recipe);
  auto is_algebraic = [](const Step& step) {
    return find_transform(step.name).kind == Transform::Kind::algebraic;
  };
  // What comes after the last of them need not be applied.
  while (!steps.empty() && !is_algebraic(steps.back())) steps.pop_back();
  if (steps.empty()) return 0;
  Context context;
  UnitNest unit_nest = nest_of(context, unit);
  Nest nest = with_starts(with_blocked_sums(unit_nest.nest, unit_nest.layouts));
  double error = 0;
  for (const Step& step : steps) {
    Applied applied = apply(nest, step);
    error = std::max(error, applied.error.value_or(0));
    nest = applied.nest;
  }
  return error;
}

SampledOutputs::SampledOutputs(const Unit& unit, const TensorAddresses& given) {
  try {
    Context context;
    UnitNest nest = nest_of(context, unit);
    integral_ = std::all_of(nest.nest.tensors().begin(), nest.nest.tensors().end(),
                            [](const Tensor& tensor) { return is_integral(tensor.element); });
    integral_ ? interpret<long>(unit, nest, given) : interpret<double>(unit, nest, given);
  } catch (const UserError& error) {
    unchecked_ = error.what();
  }
}

template <class T>
void SampledOutputs::interpret(const Unit& unit, const UnitNest& nest,
                               const TensorAddresses& given) {
  const std::vector<Tensor>& tensors = nest.nest.tensors();
  auto read = [&](size_t t, long number) -> T {
    const Tensor& tensor = tensors[t];
    if (tensor.role == Role::constant) {
      return static_cast<T>(tensor.values[static_cast<size_t>(number)]);
    }
    if (given[t] == nullptr) fail("no kernel is given '{}'", tensor.name);
    return element_at<T>(tensor.element, address_of(tensor, nest.layouts[t], given[t], number));
  };
  ElementInterpreter<T> interpreter(nest.nest, read, unit_of(nest.nest));
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role != Role::output) continue;
    Output output{t, tensors[t], nest.layouts[t], {}};
    size_t drawn = 0;
    for (long number : sampled_elements(tensors[t].shape, elements, hash_bytes(unit.key))) {
      // Of what a border's nest writes, the middle is overwritten by the unit of the value.
      if (unit.border_only && !is_in_border(unit, index_of(tensors[t].shape, number))) continue;
      auto must = interpreter.element(t, number);
      if (!must) must = Rounded<T>{};  // what nothing writes is 0
      ++drawn;
      if (!std::isfinite(must->error)) continue;  // rounding decides what it is
      long integer = std::is_integral_v<T> ? static_cast<long>(must->value) : 0;
      output.samples.push_back({number, static_cast<double>(must->value), must->error, integer});
    }
    if (2 * output.samples.size() < drawn) fail("rounding decides what most of its outputs are");
    outputs_.push_back(std::move(output));
  }
}

std::string SampledOutputs::difference(const TensorAddresses& computed, double error) const {
  for (const Output& output : outputs_) {
    const std::byte* at = computed[output.tensor];
    if (at == nullptr && output.samples.empty()) continue;
    if (at == nullptr) return fmt::format("nothing writes '{}'", output.what.name);
    std::string wrong = difference(output, at, error);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string SampledOutputs::difference(const Output& output, const std::byte* at,
                                       double error) const {
  Element element = output.what.element;
  double squares = 0, finite = 0;
  for (const Sample& sample : output.samples) {
    if (!std::isfinite(sample.value)) continue;
    squares += sample.value * sample.value;
    finite += 1;
  }
  double algebraic = beyond_expected * error * std::sqrt(squares / std::max(1.0, finite));
  for (const Sample& sample : output.samples) {
    const std::byte* place = address_of(output.what, output.layout, at, sample.number);
    std::string where =
        fmt::format("element ({})", fmt::join(index_of(output.what.shape, sample.number), ", "));
    if (integral_) {
      long is = element_at<long>(element, place), must = stored(element, sample.integer);
      if (is != must) return fmt::format("{} is {} instead of {}", where, is, must);
      continue;
    }
    double is = element_at<double>(element, place), must = stored(element, sample.value);
    if (is == must || (std::isnan(is) && std::isnan(must))) continue;
    double rounding = is_float(element) ? unit_of(element) * std::abs(sample.value) : 0;
    if (std::abs(is - sample.value) <= sample.error + rounding + algebraic) continue;
    return fmt::format("{} is {:.9g} instead of {:.9g}", where, is, must);
  }
  return "";
}

}  // namespace lathe
