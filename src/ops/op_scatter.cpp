// op_scatter.cpp: elements that indices choose. Interface: op_scatter.h.
#include "ops/op_scatter.h"

#include <algorithm>
#include <numeric>

#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {

void check_indices_fit(const Call& call, size_t axis) {
  const Shape &x = call.shape(0), &indices = call.shape(1);
  bool fits = x.size() == indices.size();
  for (size_t i = 0; fits && i < x.size(); ++i) fits = i == axis || indices[i] <= x[i];
  if (fits) return;
  call.refuse("indices {} do not fit {} along axis {}", print_shape(indices), print_shape(x), axis);
}

std::vector<long> elements_along(const Call& call, const Shape& shape, const Array& indices,
                                 size_t axis) {
  Shape strides = strides_of(shape), at(shape.size(), 0);
  std::vector<long> result;
  for (long index : indices.integers()) {
    long element = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      element += (i == axis ? index_in(call, index, shape[i]) : at[i]) * strides[i];
    }
    result.push_back(element);
    advance(at, indices.shape());
  }
  return result;
}

std::vector<long> slices(const Call& call, const Shape& shape, const Array& indices, size_t batch) {
  Shape strides = strides_of(shape), tuples(indices.shape().begin(), indices.shape().end() - 1);
  Shape at(tuples.size(), 0);
  auto length = static_cast<size_t>(indices.shape().back());
  long inner = count_between(shape, batch + length, shape.size());
  std::vector<long> values = indices.integers(), result;
  for (long t = 0; t < count_of(tuples); ++t) {
    long first = 0;
    for (size_t i = 0; i < batch; ++i) first += at[i] * strides[i];
    for (size_t i = 0; i < length; ++i) {
      long index = values[static_cast<size_t>(t) * length + i];
      first += index_in(call, index, shape[batch + i]) * strides[batch + i];
    }
    for (long i = 0; i < inner; ++i) result.push_back(first + i);
    advance(at, tuples);
  }
  return result;
}

Setting reduction_setting() {
  return {"reduction", std::string("none"), "none, add, mul, max, min: with what was there"};
}

void check_combination(const Call& call) {
  const std::string& how = call.text("reduction");
  if (how == "none") return;
  check_number(call, 0);
  if (how == "add" || how == "mul" || how == "max" || how == "min") return;
  call.refuse("reduction=\"{}\" must be one of: none add mul max min", how);
}

namespace {

template <class T>
T combined(const std::string& how, T x, T y) {
  if (how == "add") return sum(x, y);
  if (how == "mul") return product(x, y);
  return how == "max" ? std::max(x, y) : std::min(x, y);
}

}  // namespace

Array scattered(const Call& call, const Array& x, const std::vector<long>& places,
                const Array& updates) {
  const std::string& how = call.text("reduction");
  if (how == "none") {
    std::vector<long> sources(static_cast<size_t>(x.count()));
    std::iota(sources.begin(), sources.end(), 0);
    for (size_t i = 0; i < places.size(); ++i) {
      sources[static_cast<size_t>(places[i])] = x.count() + static_cast<long>(i);
    }
    return picked(x, updates, x.shape(), sources);
  }
  return on_numbers(x.element(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values = numbers<T>(x), news = numbers<T>(updates);
    for (size_t i = 0; i < places.size(); ++i) {
      T& value = values[static_cast<size_t>(places[i])];
      value = combined(how, value, news[i]);
    }
    return array_of(x.element(), x.shape(), values);
  });
}

}  // namespace lathe::ops
