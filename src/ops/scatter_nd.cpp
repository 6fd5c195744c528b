// scatter_nd.cpp: a copy with some elements or slices replaced, or combined with updates.
//
//   O = X;  O[indices[i, 0], indices[i, 1], c] = updates[i, c]
#include "ops/op_check.h"
#include "ops/op_data.h"
#include "ops/op_dims.h"
#include "ops/op_scatter.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_scatter_nd(const Call& call) {
  check_integral(call, 1);
  check_same_element(call, 2);
  const Shape &x = call.shape(0), &indices = call.shape(1);
  if (indices.empty() || indices.back() > static_cast<long>(x.size())) {
    call.refuse("indices {} do not fit {}", print_shape(indices), print_shape(x));
  }
  Shape wanted =
      joined(Shape(indices.begin(), indices.end() - 1), Shape(x.begin() + indices.back(), x.end()));
  if (call.shape(2) != wanted) {
    call.refuse("updates {} must have the shape {}", print_shape(call.shape(2)),
                print_shape(wanted));
  }
  check_combination(call);
  return {call.type(0)};
}

std::vector<Array> run_scatter_nd(const Call& call, const std::vector<Array>& inputs) {
  std::vector<long> places = slices(call, inputs[0].shape(), inputs[1], 0);
  return {scattered(call, inputs[0], places, inputs[2])};
}

}  // namespace

Op scatter_nd() {
  return {.name = "scatter_nd",
          .summary = "a copy with elements or slices updated",
          .examples = {"scatter_nd(f32[3x4x2], i64[5x2], f32[5x2])",
                       "scatter_nd(i32[6], i64[2x1], i32[2], reduction=\"max\")"},
          .graph = {.least = 3,
                    .most = 3,
                    .settings = {reduction_setting()},
                    .infer = types_of_scatter_nd,
                    .run = run_scatter_nd}};
}

}  // namespace lathe::ops
