// batch_norm.cpp: batch normalisation at inference: the statistics are given.
//
//   O[c, h, w] = (I[c, h, w] - mean[c]) / sqrt(variance[c] + 1e-05) * scale[c] + shift[c]
#include "ops/op_elementwise.h"

namespace lathe::ops {
namespace {

constexpr double epsilon = 1e-5;

Nest nest(isl::ctx ctx, const Params& p) {
  StatementBuilder::Extents dims = element_dims("batch_norm", p);
  NestBuilder b(ctx, "batch_norm");
  size_t I = b.tensor("I", Role::input, shape(dims));
  size_t O = b.tensor("O", Role::output, shape(dims));
  auto& s = b.statement("batch_norm", dims);
  auto of_channel = [&](const char* name) {
    return s.read(b.tensor(name, Role::weight, {p["c"]}), {s["c"]});
  };
  Expr x = s.read(I, at(s, dims)), mean = of_channel("mean"), variance = of_channel("variance");
  Expr scale = of_channel("scale"), shift = of_channel("shift");
  Expr deviation = call(Expr::Op::sqrt, {variance + number(epsilon)});
  s.assign(O, at(s, dims), (x - mean) / deviation * scale + shift);
  return b.build();
}

}  // namespace

Op batch_norm() {
  return {"batch_norm",
          "batch normalisation at inference",
          element_params(),
          nest,
          {"batch_norm(c=3, h=4, w=5)", "batch_norm(n=2, c=3, h=2, w=2)", "batch_norm(c=7)"}};
}

}  // namespace lathe::ops
