// reduce_prod.cpp: the product of the elements along some dimensions. No statement of a nest
// multiplies into what it writes, so it runs on arrays.
#include "ops/op_check.h"
#include "ops/op_data.h"
#include "ops/op_reduce.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_reduce_prod(const Call& call) {
  check_number(call, 0);
  return reduced_types(call);
}

/// Multiplies each element into the one of "kept" that it belongs to.
template <class T>
std::vector<T> products(const std::vector<T>& x, const Reduction& r) {
  Shape kept = r.kept(), strides = strides_of(kept), index(r.input.size(), 0);
  std::vector<T> result(static_cast<size_t>(count_of(kept)), T(1));
  for (T value : x) {
    long to = 0;
    for (size_t i = 0; i < index.size(); ++i) to += r.over[i] ? 0 : index[i] * strides[i];
    result[static_cast<size_t>(to)] = product(result[static_cast<size_t>(to)], value);
    advance(index, r.input);
  }
  return result;
}

std::vector<Array> run_reduce_prod(const Call& call, const std::vector<Array>& inputs) {
  Reduction r = reduction(call);
  return on_numbers(inputs[0].element(), [&](auto zero) {
    auto values = products(numbers<decltype(zero)>(inputs[0]), r);
    return std::vector<Array>{array_of(inputs[0].element(), r.output(), values)};
  });
}

}  // namespace

Op reduce_prod() {
  return {
      .name = "reduce_prod",
      .summary = "product along some dimensions",
      .examples = reduce_examples("reduce_prod"),
      .graph = {
          .settings = reduce_settings(), .infer = types_of_reduce_prod, .run = run_reduce_prod}};
}

}  // namespace lathe::ops
