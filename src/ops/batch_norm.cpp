// batch_norm.cpp: batch normalisation at inference: the statistics are given.
//
//   O[c, h, w] = (I[c, h, w] - mean[c]) / sqrt(variance[c] + epsilon) * scale[c] + shift[c]
#include "ops/op_dims.h"
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

Nest nest_of_batch_norm(isl::ctx ctx, const StatementBuilder::Extents& loops, long channels,
                        double epsilon, Element element) {
  Shape shape;
  for (const auto& [name, extent] : loops) shape.push_back(extent);
  NestBuilder b(ctx, "batch_norm");
  size_t I = b.tensor("I", Role::input, shape, element);
  size_t O = b.tensor("O", Role::output, shape, element);
  auto& s = b.statement("batch_norm", loops);
  auto of_channel = [&](const char* name) {
    return s.read(b.tensor(name, Role::weight, {channels}, element), {s["c"]});
  };
  Expr x = s.read(I, at(s, loops)), scale = of_channel("scale"), shift = of_channel("shift");
  Expr mean = of_channel("mean"), variance = of_channel("variance");
  Expr deviation = call(Expr::Op::sqrt, {variance + number(epsilon)});
  s.assign(O, at(s, loops), (x - mean) / deviation * scale + shift);
  return b.build();
}

Nest nest_of_batch_norm_sizes(isl::ctx ctx, const Params& p) {
  check_sizes("batch_norm", p, {"c"});
  StatementBuilder::Extents loops;
  for (const char* name : {"n", "c", "h", "w"}) {
    if (p[name] < 0) fail("batch_norm: {} must be at least 0, not {}", name, p[name]);
    if (p[name] > 0) loops.emplace_back(name, p[name]);
  }
  return nest_of_batch_norm(ctx, loops, p["c"], 1e-5, Element::f32);
}

Nest nest_of_batch_norm_call(isl::ctx ctx, const Call& call) {
  const Shape& shape = call.shape(0);
  StatementBuilder::Extents loops = loops_over(shape);
  // The channel is the second dimension, whatever the others are called.
  loops[1].first = "c";
  return nest_of_batch_norm(ctx, loops, shape[1], call.real("epsilon"), call.element(0));
}

std::vector<Type> types_of_batch_norm(const Call& call) {
  const Shape& shape = call.shape(0);
  if (shape.size() < 2) call.refuse("the input {} has no channels", print_shape(shape));
  for (size_t i = 1; i < 5; ++i) {
    if (call.shape(i) == Shape{shape[1]}) continue;
    call.refuse("operand {} is {}, but there are {} channels", i, print_shape(call.shape(i)),
                shape[1]);
  }
  return {call.type(0)};
}

}  // namespace

Op batch_norm() {
  return {"batch_norm",
          "batch normalisation at inference",
          {batch_param(),
           {"c", std::nullopt, "channels"},
           {"h", 0, "rows; 0: no such dimension"},
           {"w", 0, "columns; 0: no such dimension"}},
          nest_of_batch_norm_sizes,
          {"batch_norm(c=3, h=4, w=5)", "batch_norm(n=2, c=3, h=2, w=2)", "batch_norm(c=7)",
           "batch_norm(f32[2x3x4], f32[3], f32[3], f32[3], f32[3], epsilon=0.01)"},
          {.least = 5,
           .most = 5,
           .settings = {{"epsilon", 1e-5, "added to the variance"}},
           .infer = types_of_batch_norm,
           .nest = nest_of_batch_norm_call}};
}

}  // namespace lathe::ops
