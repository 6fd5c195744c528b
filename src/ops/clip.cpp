// clip.cpp: values kept between two integers; as it stands, relu6.
//
//   O[c, h, w] = max(min(I[c, h, w], max), min)
#include "base/error.h"
#include "ops/op_elementwise.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  if (p["min"] > p["max"]) fail("clip: min={} must not exceed max={}", p["min"], p["max"]);
  Expr low = number(static_cast<double>(p["min"])), high = number(static_cast<double>(p["max"]));
  return unary_nest(ctx, "clip", p, [&](const Expr& x) {
    return call(Expr::Op::max, {call(Expr::Op::min, {x, high}), low});
  });
}

}  // namespace

Op clip() {
  return {"clip",
          "max(min(x, max), min)",
          element_params({{"min", 0, "smallest value"}, {"max", 6, "largest value"}}),
          nest,
          {"clip(c=3, h=4, w=5)", "clip(n=2, c=3, min=-1, max=1)"}};
}

}  // namespace lathe::ops
