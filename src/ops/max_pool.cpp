// max_pool.cpp: the largest value under a window; the padding is lower than any value.
//
//   O[c, oh, ow] max= I[c, s*oh + d*kh, s*ow + d*kw]
#include <limits>

#include "base/error.h"
#include "ops/op_shape.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  check_sizes("max_pool", p, {"c"});
  long n = p["n"], c = p["c"];
  Window w = window("max_pool", p, p["dilation"]);
  if (w.pad >= w.kh || w.pad >= w.kw) {
    fail("max_pool: pad={} must be less than the kernel's {} by {}", w.pad, w.kh, w.kw);
  }
  NestBuilder b(ctx, "max_pool");
  size_t I = padded_input(b, w, n, c, -std::numeric_limits<double>::infinity());
  size_t O = b.tensor("O", Role::output, batched_shape(n, {c, w.oh, w.ow}));
  auto& s = b.statement(
      "max_pool",
      batched_loops(n, {{"c", c}, {"oh", w.oh}, {"ow", w.ow}, {"kh", w.kh}, {"kw", w.kw}}));
  Expr input = s.read(I, under_window(s, w, n, s["c"]));
  s.maximum(O, batched_at(s, n, {s["c"], s["oh"], s["ow"]}), input);
  return b.build();
}

}  // namespace

Op max_pool() {
  return {"max_pool",
          "largest value under a sliding window",
          window_params(
              {batch_param(), {"c", std::nullopt, "channels"}},
              {{"dilation", 1, "input rows and columns from one kernel element to the next"}}),
          nest,
          {"max_pool(c=3, oh=4, ow=3, k=2, stride=2)",
           "max_pool(n=2, c=2, oh=3, ow=4, k=3, stride=2, pad=1)",
           "max_pool(c=2, oh=3, ow=3, kh=3, kw=2, dilation=2, pad=1)"}};
}

}  // namespace lathe::ops
