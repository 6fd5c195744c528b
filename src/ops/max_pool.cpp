// max_pool.cpp: the largest value under a window; the padding is lower than any value.
//
//   O[c, oh, ow] max= I[c, s*oh + d*kh, s*ow + d*kw]
#include <limits>

#include "ops/op_dims.h"
#include "ops/op_pool.h"
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

Nest nest_of_max_pool(isl::ctx ctx, const Pool& p) {
  NestBuilder b(ctx, "max_pool");
  double lowest = -std::numeric_limits<double>::infinity();
  size_t I = padded_input(b, p.window, p.n, p.c, lowest, p.element);
  size_t O = b.tensor("O", Role::output, pool_shape(p), p.element);
  auto& s = b.statement("max_pool", joined(pool_loops(p), kernel_loops(p.window)));
  Expr input = s.read(I, under_window(s, p.window, p.n, s["c"]));
  s.maximum(O, at(s, pool_loops(p)), input);
  return b.build();
}

}  // namespace

Op max_pool() {
  return {"max_pool",
          "largest value under a sliding window",
          window_params(
              {batch_param(), {"c", std::nullopt, "channels"}},
              {{"dilation", 1, "input rows and columns from one kernel element to the next"}}),
          [](isl::ctx ctx, const Params& p) {
            return nest_of_max_pool(ctx, pool("max_pool", p, p["dilation"]));
          },
          {"max_pool(c=3, oh=4, ow=3, k=2, stride=2)",
           "max_pool(n=2, c=2, oh=3, ow=4, k=3, stride=2, pad=1)",
           "max_pool(c=2, oh=3, ow=3, kh=3, kw=2, dilation=2, pad=1)",
           "max_pool(f32[1x2x5x6], kernel=[2, 3], pads=[0, 1, 1, 2], strides=[2, 2], ceil=1)"},
          pool_signature({}, [](isl::ctx ctx, const Call& call) {
            return nest_of_max_pool(ctx, pool(call));
          })};
}

}  // namespace lathe::ops
