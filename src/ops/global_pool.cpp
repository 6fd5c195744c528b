// global_pool.cpp: the mean of each channel.
//
//   S[c] += I[c, h, w];  O[c] = S[c] / (H*W)
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  check_sizes("global_pool", p, {"c", "h", "w"});
  long n = p["n"], c = p["c"], h = p["h"], w = p["w"];
  NestBuilder b(ctx, "global_pool");
  size_t I = b.tensor("I", Role::input, batched_shape(n, {c, h, w}));
  size_t S = b.tensor("S", Role::local, batched_shape(n, {c}));
  size_t O = b.tensor("O", Role::output, batched_shape(n, {c}));
  auto& sum = b.statement("sum", batched_loops(n, {{"c", c}, {"h", h}, {"w", w}}));
  sum.add(S, batched_at(sum, n, {sum["c"]}),
          sum.read(I, batched_at(sum, n, {sum["c"], sum["h"], sum["w"]})));
  auto& s = b.statement("divide", batched_loops(n, {{"c", c}}));
  s.assign(O, batched_at(s, n, {s["c"]}),
           s.read(S, batched_at(s, n, {s["c"]})) / number(static_cast<double>(h * w)));
  return b.build();
}

}  // namespace

Op global_pool() {
  return {"global_pool",
          "mean of each channel",
          {batch_param(),
           {"c", std::nullopt, "channels"},
           {"h", std::nullopt, "rows"},
           {"w", std::nullopt, "columns"}},
          nest,
          {"global_pool(c=3, h=4, w=5)", "global_pool(n=2, c=3, h=1, w=3)"}};
}

}  // namespace lathe::ops
