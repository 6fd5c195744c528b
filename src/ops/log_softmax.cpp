// log_softmax.cpp: the logarithm of softmax, which underflows nowhere.
//
//   M[n] max= I[n, c];  S[n] += exp(I[n, c] - M[n]);  O[n, c] = I[n, c] - M[n] - log(S[n])
#include "ops/op_check.h"
#include "ops/op_dims.h"
#include "ops/op_reduce.h"

namespace lathe::ops {
namespace {

Nest nest_of_log_softmax_call(isl::ctx ctx, const Call& call) {
  size_t axis = call.axis("axis", call.shape(0).size());
  Reduction r = reduction(call, axis, axis + 1);
  StatementBuilder::Extents loops = loops_over(r.input);
  NestBuilder b(ctx, "log_softmax");
  size_t I = declare(b, call, 0, "I"), O = declare_output(b, call.type(0));
  size_t M = largest(b, r, I, call.element(0));
  size_t S = b.tensor("S", Role::local, r.kept(), real_element(call.element(0)));
  auto& sum = b.statement("sum", loops);
  Expr exponent = less_kept(sum, r, I, M);
  sum.add(S, kept_at(sum, r), lathe::call(Expr::Op::exp, {exponent}));
  auto& s = b.statement("finish", loops);
  Expr x = less_kept(s, r, I, M), total = s.read(S, kept_at(s, r));
  s.assign(O, at(s, loops), x - lathe::call(Expr::Op::log, {total}));
  return b.build();
}

}  // namespace

Op log_softmax() {
  return {.name = "log_softmax",
          .summary = "logarithm of the softmax along one dimension",
          .examples = {"log_softmax(f32[2x5], axis=1)", "log_softmax(f32[3x4x2], axis=0)",
                       "log_softmax(f32[7])"},
          .graph = {.settings = {{"axis", -1L, "the dimension"}},
                    .infer = float_along_axis,
                    .nest = nest_of_log_softmax_call}};
}

}  // namespace lathe::ops
