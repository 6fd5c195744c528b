// one_hot.cpp: for each index a line that is on at one place and off elsewhere.
//
//   O[i, j] = values[j == indices[i] ? 1 : 0]      for j < depth
//
// Negative indices count from the end; a line whose index is outside is off everywhere.
#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

/// The new dimension may also come last, so there is one place more than in the indices.
size_t axis_of(const Call& call, const Shape& indices) {
  return call.axis("axis", indices.size() + 1);
}

Shape shape_of_one_hot(const Call& call, Shape indices) {
  size_t axis = axis_of(call, indices);
  indices.insert(indices.begin() + static_cast<long>(axis), call.integer("depth"));
  return indices;
}

std::vector<Type> types_of_one_hot(const Call& call) {
  check_number(call, 0);
  if (call.shape(1) != Shape{2}) {
    call.refuse("the values {} must be two, off and on", print_shape(call.shape(1)));
  }
  if (call.integer("depth") < 0) call.refuse("depth={} is negative", call.integer("depth"));
  return {{call.element(1), shape_of_one_hot(call, call.shape(0))}};
}

std::vector<Array> run_one_hot(const Call& call, const std::vector<Array>& inputs) {
  Shape shape = shape_of_one_hot(call, inputs[0].shape());
  Lines lines(shape, axis_of(call, inputs[0].shape()));
  std::vector<long> sources(static_cast<size_t>(count_of(shape)), 0);
  std::vector<long> indices = inputs[0].integers();
  size_t next = 0;
  lines.each([&](long outer, long inner) {
    long index = indices[next++];
    if (index < -lines.extent || index >= lines.extent) return;
    long on = lines.at(outer, index < 0 ? index + lines.extent : index, inner);
    sources[static_cast<size_t>(on)] = 1;
  });
  return {picked(inputs[1], shape, sources)};
}

}  // namespace

Op one_hot() {
  return {.name = "one_hot",
          .summary = "for each index a line with one place on",
          .examples = {"one_hot(i64[3], f32[2], depth=4)",
                       "one_hot(i32[2x3], i32[2], depth=5, axis=1)"},
          .graph = {.least = 2,
                    .most = 2,
                    .settings = {{"depth", 1L, "places of a line", Setting::Need::required},
                                 {"axis", -1L, "where the output's new dimension is"}},
                    .infer = types_of_one_hot,
                    .run = run_one_hot}};
}

}  // namespace lathe::ops
