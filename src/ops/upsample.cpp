// upsample.cpp: every element becomes a square of elements (nearest neighbour).
//
//   O[c, f*ih + fh, f*iw + fw] = I[c, ih, iw]
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  check_sizes("upsample", p, {"c", "h", "w", "factor"});
  long n = p["n"], c = p["c"], h = p["h"], w = p["w"], f = p["factor"];
  NestBuilder b(ctx, "upsample");
  size_t I = b.tensor("I", Role::input, batched_shape(n, {c, h, w}));
  size_t O = b.tensor("O", Role::output, batched_shape(n, {c, f * h, f * w}));
  auto& s = b.statement("upsample",
                        batched_loops(n, {{"c", c}, {"ih", h}, {"iw", w}, {"fh", f}, {"fw", f}}));
  Expr input = s.read(I, batched_at(s, n, {s["c"], s["ih"], s["iw"]}));
  s.assign(O, batched_at(s, n, {s["c"], s["ih"] * f + s["fh"], s["iw"] * f + s["fw"]}), input);
  return b.build();
}

}  // namespace

Op upsample() {
  return {"upsample",
          "every element repeated in a square",
          {batch_param(),
           {"c", std::nullopt, "channels"},
           {"h", std::nullopt, "rows of the input"},
           {"w", std::nullopt, "columns of the input"},
           {"factor", std::nullopt, "output rows and columns for each of the input"}},
          nest,
          {"upsample(c=2, h=3, w=4, factor=2)", "upsample(n=2, c=2, h=2, w=1, factor=3)"}};
}

}  // namespace lathe::ops
