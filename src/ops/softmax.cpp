// softmax.cpp: exponentials along one dimension, divided by their sum.
//
//   M[n] max= I[n, c];  E[n, c] = exp(I[n, c] - M[n]);  S[n] += E[n, c];  O[n, c] = E[n, c] / S[n]
#include "ops/op_check.h"
#include "ops/op_dims.h"
#include "ops/op_reduce.h"

namespace lathe::ops {
namespace {

Nest nest_of_softmax_call(isl::ctx ctx, const Call& call) {
  size_t axis = call.axis("axis", call.shape(0).size());
  Reduction r = reduction(call, axis, axis + 1);
  StatementBuilder::Extents loops = loops_over(r.input);
  Element real = real_element(call.element(0));
  NestBuilder b(ctx, "softmax");
  size_t I = declare(b, call, 0, "I"), O = declare_output(b, call.type(0));
  size_t M = largest(b, r, I, call.element(0));
  size_t E = b.tensor("E", Role::local, r.input, real);
  size_t S = b.tensor("S", Role::local, r.kept(), real);
  auto& power = b.statement("exp", loops);
  Expr exponent = less_kept(power, r, I, M);
  power.assign(E, at(power, loops), lathe::call(Expr::Op::exp, {exponent}));
  auto& sum = b.statement("sum", loops);
  Expr term = sum.read(E, at(sum, loops));
  sum.add(S, kept_at(sum, r), term);
  auto& s = b.statement("divide", loops);
  Expr part = s.read(E, at(s, loops)), total = s.read(S, kept_at(s, r));
  s.assign(O, at(s, loops), part / total);
  return b.build();
}

}  // namespace

Op softmax() {
  return {
      .name = "softmax",
      .summary = "exponentials along one dimension, divided by their sum",
      .examples = {"softmax(f32[2x5], axis=1)", "softmax(f32[3x4x2], axis=-2)", "softmax(f32[7])"},
      .graph = {.settings = {{"axis", -1L, "the dimension"}},
                .infer = float_along_axis,
                .nest = nest_of_softmax_call}};
}

}  // namespace lathe::ops
