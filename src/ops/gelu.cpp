// gelu.cpp: the Gaussian error linear unit, exact (not its tanh approximation).
// Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
//
//   O[c, h, w] = x / 2 * (1 + erf(x / sqrt(2)))  with  x = I[c, h, w]
#include <numbers>

#include "ops/op_elementwise.h"

namespace lathe::ops {
namespace {

Expr gaussian_unit(const Expr& x) {
  Expr erf = call(Expr::Op::erf, {x / number(std::numbers::sqrt2)});
  return x / number(2) * (number(1) + erf);
}

Nest nest(isl::ctx ctx, const Params& p) { return unary_nest(ctx, "gelu", p, gaussian_unit); }

}  // namespace

Op gelu() { return unary_op("gelu", "x / 2 * (1 + erf(x / sqrt(2)))", nest); }

}  // namespace lathe::ops
