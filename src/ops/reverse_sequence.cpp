// reverse_sequence.cpp: the first elements of each sequence of a batch, backwards.
//
//   O[t, b] = X[t < lengths[b] ? lengths[b] - 1 - t : t, b]
#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_reverse_sequence(const Call& call) {
  check_integral(call, 1);
  const Shape& shape = call.shape(0);
  size_t batch = call.axis("batch_axis", shape.size());
  if (batch == call.axis("time_axis", shape.size())) {
    call.refuse("batch_axis and time_axis are both {}", batch);
  }
  if (call.shape(1) != Shape{shape[batch]}) {
    call.refuse("the lengths {} must be {}, one for each sequence", print_shape(call.shape(1)),
                shape[batch]);
  }
  return {call.type(0)};
}

std::vector<Array> run_reverse_sequence(const Call& call, const std::vector<Array>& inputs) {
  const Shape& shape = inputs[0].shape();
  size_t batch = call.axis("batch_axis", shape.size()), time = call.axis("time_axis", shape.size());
  std::vector<long> lengths = inputs[1].integers(), sources;
  for (long length : lengths) {
    if (length < 0 || length > shape[time]) {
      call.refuse("length {} is outside of sequences of {} elements", length, shape[time]);
    }
  }
  Shape strides = strides_of(shape), at(shape.size(), 0);
  for (long element = 0; element < inputs[0].count(); ++element) {
    long length = lengths[static_cast<size_t>(at[batch])], t = at[time];
    sources.push_back(t < length ? element + (length - 1 - 2 * t) * strides[time] : element);
    advance(at, shape);
  }
  return {picked(inputs[0], shape, sources)};
}

}  // namespace

Op reverse_sequence() {
  return {.name = "reverse_sequence",
          .summary = "the first elements of each sequence of a batch, backwards",
          .examples = {"reverse_sequence(f32[4x3], i64[3])",
                       "reverse_sequence(f32[2x5x3], i64[2], batch_axis=0, time_axis=1)"},
          .graph = {.least = 2,
                    .most = 2,
                    .settings = {{"batch_axis", 1L, "the dimension that counts sequences"},
                                 {"time_axis", 0L, "the dimension along a sequence"}},
                    .infer = types_of_reverse_sequence,
                    .run = run_reverse_sequence}};
}

}  // namespace lathe::ops
