// lp_pool.cpp: the p-norm of the values under a window.
//
//   S[c, oh, ow] += pow(abs(I[c, s*oh + d*kh, s*ow + d*kw]), p);  O[c, oh, ow] = pow(S[c, oh, ow],
//   1/p)
#include "ops/op_check.h"
#include "ops/op_dims.h"
#include "ops/op_pool.h"

namespace lathe::ops {
namespace {

Expr power(const Expr& x, long p) {
  if (p == 1) return call(Expr::Op::abs, {x});
  if (p == 2) return x * x;
  return call(Expr::Op::pow, {call(Expr::Op::abs, {x}), number(static_cast<double>(p))});
}

Expr root(const Expr& x, long p) {
  if (p == 1) return x;
  if (p == 2) return call(Expr::Op::sqrt, {x});
  return call(Expr::Op::pow, {x, number(1 / static_cast<double>(p))});
}

Nest nest_of_lp_pool_call(isl::ctx ctx, const Call& call) {
  Pool p = pool(call);
  long norm = call.integer("p");
  StatementBuilder::Extents loops = pool_loops(p);
  NestBuilder b(ctx, "lp_pool");
  size_t I = padded_input(b, p.window, p.n, p.c, 0, p.element);
  size_t S = b.tensor("S", Role::local, pool_shape(p), p.element);
  size_t O = b.tensor("O", Role::output, pool_shape(p), p.element);
  auto& sum = b.statement("sum", joined(loops, kernel_loops(p.window)));
  Expr x = sum.read(I, under_window(sum, p.window, p.n, sum["c"]));
  sum.add(S, at(sum, loops), power(x, norm));
  auto& s = b.statement("root", loops);
  Expr total = s.read(S, at(s, loops));
  s.assign(O, at(s, loops), root(total, norm));
  return b.build();
}

}  // namespace

Op lp_pool() {
  Signature graph = pool_signature({{"p", 2L, "which norm"}}, nest_of_lp_pool_call);
  auto types_of_pool = graph.infer;
  graph.infer = [types_of_pool](const Call& call) {
    check_float(call, 0);
    if (call.integer("p") < 1) call.refuse("p={} must be at least 1", call.integer("p"));
    return types_of_pool(call);
  };
  return {.name = "lp_pool",
          .summary = "p-norm of the values under a sliding window",
          .examples = {"lp_pool(f32[1x2x5x6], kernel=[2, 3], pads=[0, 1, 1, 2], strides=[2, 2])",
                       "lp_pool(f32[2x3x7], kernel=[3], p=3, dilations=[2])"},
          .graph = graph};
}

}  // namespace lathe::ops
