// variance.cpp: the mean squared distance from a given mean, along some dimensions. A batch
// normalisation needs it while a network is trained.
//
//   S[c] += (I[n, c, h, w] - M[c]) * (I[n, c, h, w] - M[c]);  O[c] = S[c] / (N*H*W)
#include "nest/partial_sums.h"
#include "ops/op_dims.h"
#include "ops/op_reduce.h"
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_variance(const Call& call) {
  check_same_element(call, 1);
  Type result{call.element(0), reduction(call).output()};
  if (call.type(1) != result) {
    call.refuse("the mean {} must be {}", print_type(call.type(1)), print_type(result));
  }
  return {result};
}

Nest nest_of_variance_call(isl::ctx ctx, const Call& call) {
  Reduction r = reduction(call);
  StatementBuilder::Extents loops = loops_over(r.input);
  NestBuilder b(ctx, "variance");
  size_t I = declare(b, call, 0, "I"), M = declare(b, call, 1, "M");
  size_t S = b.tensor("S", Role::local, r.output(), call.element(0));
  size_t O = declare_output(b, types_of_variance(call).front());
  auto& sum = b.statement("sum", loops);
  Expr x = sum.read(I, at(sum, loops)), mean = sum.read(M, output_at(sum, r));
  sum.add(S, output_at(sum, r), (x - mean) * (x - mean));
  auto& s = b.statement("divide", loops_over(r.output()));
  std::vector<Index> to = at(s, loops_over(r.output()));
  s.assign(O, to, s.read(S, to) / number(static_cast<double>(r.count())));
  return with_partial_sums(b.build());
}

}  // namespace

Op variance() {
  return {.name = "variance",
          .summary = "mean square of the distance from a mean, along some dimensions",
          .examples = {"variance(f32[2x3x4x5], f32[3], axes=[0, 2, 3], keep=0)",
                       "variance(f32[3x4], f32[3x1], axes=[1])"},
          .graph = {.least = 2,
                    .most = 2,
                    .settings = reduce_settings(),
                    .infer = types_of_variance,
                    .nest = nest_of_variance_call}};
}

}  // namespace lathe::ops
