// reduce_log_sum_exp.cpp: the logarithm of the sum of exponentials along some dimensions.
//
//   M[c] max= I[c, h];  S[c] += exp(I[c, h] - M[c]);  O[c] = log(S[c]) + M[c]
//
// Without the largest, M, the exponentials of large elements would overflow.
#include <limits>

#include "ops/op_dims.h"
#include "ops/op_reduce.h"

namespace lathe::ops {
namespace {

Nest nest_of_reduce_log_sum_exp(isl::ctx ctx, const Call& call) {
  Reduction r = reduction(call);
  Element real = real_element(call.element(0));
  NestBuilder b(ctx, "reduce_log_sum_exp");
  size_t I = declare(b, call, 0, "I"), O = declare_output(b, reduced_types(call).front());
  size_t M = largest(b, r, I, real);
  size_t S = b.tensor("S", Role::local, r.kept(), real);
  auto& sum = b.statement("sum", loops_over(r.input));
  Expr x = less_kept(sum, r, I, M);
  sum.add(S, kept_at(sum, r), lathe::call(Expr::Op::exp, {x}));
  auto& s = b.statement("finish", loops_over(r.kept()));
  Expr total = s.read(S, kept_at(s, r)), most = s.read(M, kept_at(s, r));
  s.assign(O, output_at(s, r), lathe::call(Expr::Op::log, {total}) + most);
  return b.build();
}

}  // namespace

Op reduce_log_sum_exp() {
  return {.name = "reduce_log_sum_exp",
          .summary = "logarithm of the sum of exponentials along some dimensions",
          .examples = reduce_examples("reduce_log_sum_exp"),
          .graph = reduce_signature(nest_of_reduce_log_sum_exp,
                                    -std::numeric_limits<double>::infinity())};
}

}  // namespace lathe::ops
