// layer_norm.cpp: normalisation over the last dimensions. With x for those before them, i for them:
//
//   T[x] += I[x, i];  mean[x] = T[x] / N;  V[x] += (I[x, i] - mean[x]) * (I[x, i] - mean[x])
//   factor[x] = 1 / sqrt(V[x] / N + epsilon)
//   O[x, i] = (I[x, i] - mean[x]) * factor[x] * scale[i] + shift[i]
//
// The mean and the factor are outputs too: training needs them.
#include "ops/op_check.h"
#include "ops/op_dims.h"
#include "ops/op_reduce.h"

namespace lathe::ops {
namespace {

Reduction over_last(const Call& call) {
  size_t rank = call.shape(0).size();
  return reduction(call, call.axis("axis", rank), rank);
}

std::vector<Type> types_of_layer_norm(const Call& call) {
  check_float(call, 0);
  Reduction r = over_last(call);
  for (size_t i = 1; i < call.inputs(); ++i) {
    check_same_element(call, i);
    check_broadcasts_to(call, i, r.input);
  }
  Type statistic{real_element(call.element(0)), r.kept()};
  return {call.type(0), statistic, statistic};
}

/// Returns the mean of the elements that were summed up in "total".
Expr mean_of(StatementBuilder& s, const Reduction& r, size_t total) {
  Expr sum = s.read(total, kept_at(s, r));
  return sum / number(static_cast<double>(r.count()));
}

Nest nest_of_layer_norm_call(isl::ctx ctx, const Call& call) {
  Reduction r = over_last(call);
  StatementBuilder::Extents loops = loops_over(r.input), outer = loops_over(r.kept());
  std::vector<Type> types = types_of_layer_norm(call);
  NestBuilder b(ctx, "layer_norm");
  size_t I = declare(b, call, 0, "I");
  size_t W = b.tensor("scale", Role::weight, call.shape(1), call.element(1)), B = 0;
  if (call.has(2)) B = b.tensor("shift", Role::weight, call.shape(2), call.element(2));
  size_t O = declare_output(b, types[0]), M = declare_output(b, types[1], "mean");
  size_t F = declare_output(b, types[2], "factor");
  size_t T = b.tensor("T", Role::local, r.kept(), types[1].element);
  size_t V = b.tensor("V", Role::local, r.kept(), types[1].element);

  auto& sum = b.statement("sum", loops);
  Expr x = sum.read(I, at(sum, loops));
  sum.add(T, kept_at(sum, r), x);
  auto& mean = b.statement("average", outer);
  mean.assign(M, kept_at(mean, r), mean_of(mean, r, T));
  auto& squares = b.statement("squares", loops);
  Expr deviation = less_kept(squares, r, I, M);
  squares.add(V, kept_at(squares, r), deviation * deviation);
  auto& root = b.statement("root", outer);
  Expr variance = mean_of(root, r, V) + number(call.real("epsilon"));
  root.assign(F, kept_at(root, r), number(1) / lathe::call(Expr::Op::sqrt, {variance}));

  auto& s = b.statement("layer_norm", loops);
  std::vector<Index> here = at(s, loops);
  Expr value = less_kept(s, r, I, M), factor = s.read(F, kept_at(s, r));
  value = value * factor * s.read(W, broadcast_at(s, here, call.shape(1)));
  if (call.has(2)) value = value + s.read(B, broadcast_at(s, here, call.shape(2)));
  s.assign(O, here, value);
  return b.build();
}

}  // namespace

Op layer_norm() {
  return {.name = "layer_norm",
          .summary = "normalisation over the last dimensions; also their mean and factor",
          .examples = {"layer_norm(f32[2x3x4], f32[4], f32[4])",
                       "layer_norm(f32[2x3x4], f32[3x4], axis=1, epsilon=0.1)",
                       "layer_norm(f32[5], f32[1], f32[5], axis=0)"},
          .graph = {.least = 2,
                    .most = 3,
                    .settings = {{"axis", -1L, "the first dimension to normalise over"},
                                 {"epsilon", 1e-5, "added to the variance"}},
                    .infer = types_of_layer_norm,
                    .nest = nest_of_layer_norm_call}};
}

}  // namespace lathe::ops
