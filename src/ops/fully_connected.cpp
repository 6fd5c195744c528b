// fully_connected.cpp: every output channel sees every input channel.
//
//   O[co] = B[co];  O[co] += W[co, ci] * I[ci]
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  check_sizes("fully_connected", p, {"co", "ci"});
  long n = p["n"], co = p["co"], ci = p["ci"];
  NestBuilder b(ctx, "fully_connected");
  size_t I = b.tensor("I", Role::input, batched_shape(n, {ci}));
  size_t W = b.tensor("W", Role::weight, {co, ci});
  size_t O = b.tensor("O", Role::output, batched_shape(n, {co}));
  if (is_set("fully_connected", p, "bias")) assign_bias(b, O, n, {{"co", co}});
  auto& s = b.statement("fully_connected", batched_loops(n, {{"co", co}, {"ci", ci}}));
  Expr weight = s.read(W, {s["co"], s["ci"]}), input = s.read(I, batched_at(s, n, {s["ci"]}));
  s.add(O, batched_at(s, n, {s["co"]}), weight * input);
  return b.build();
}

}  // namespace

Op fully_connected() {
  return {"fully_connected",
          "matrix of weights times a vector of channels",
          {batch_param(),
           {"co", std::nullopt, "output channels"},
           {"ci", std::nullopt, "input channels"},
           {"bias", 0, "1: a bias for each output channel"}},
          nest,
          {"fully_connected(co=5, ci=7)", "fully_connected(n=3, co=4, ci=6, bias=1)"}};
}

}  // namespace lathe::ops
