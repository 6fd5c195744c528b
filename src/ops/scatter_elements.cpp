// scatter_elements.cpp: a copy with some elements replaced, or combined with updates.
//
//   O = X;  O[i, indices[i, j]] = updates[i, j]      for axis 1
#include "ops/op_check.h"
#include "ops/op_data.h"
#include "ops/op_dims.h"
#include "ops/op_scatter.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_scatter_elements(const Call& call) {
  check_integral(call, 1);
  check_same_element(call, 2);
  check_indices_fit(call, call.axis("axis", call.shape(0).size()));
  if (call.shape(1) != call.shape(2)) {
    call.refuse("indices {} and updates {} must have one shape", print_shape(call.shape(1)),
                print_shape(call.shape(2)));
  }
  check_combination(call);
  return {call.type(0)};
}

std::vector<Array> run_scatter_elements(const Call& call, const std::vector<Array>& inputs) {
  size_t axis = call.axis("axis", inputs[0].rank());
  std::vector<long> places = elements_along(call, inputs[0].shape(), inputs[1], axis);
  return {scattered(call, inputs[0], places, inputs[2])};
}

}  // namespace

Op scatter_elements() {
  return {
      .name = "scatter_elements",
      .summary = "a copy with elements along one dimension updated",
      .examples = {"scatter_elements(f32[3x4], i64[2x4], f32[2x4])",
                   "scatter_elements(i32[3x4], i32[3x2], i32[3x2], axis=-1, reduction=\"add\")"},
      .graph = {
          .least = 3,
          .most = 3,
          .settings = {{"axis", 0L, "the dimension that the indices index"}, reduction_setting()},
          .infer = types_of_scatter_elements,
          .run = run_scatter_elements}};
}

}  // namespace lathe::ops
