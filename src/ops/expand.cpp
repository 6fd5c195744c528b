// expand.cpp: dimensions of extent 1 become longer: every index reads the same element.
//
//   O[c, h] = I[c, 0]
#include "ops/op_dims.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_expand(const Call& call) {
  const Shape &from = call.shape(0), &to = call.integers("shape");
  bool fits = to.size() >= from.size();
  for (size_t i = 0; fits && i < from.size(); ++i) {
    fits = from[i] == 1 || from[i] == to[to.size() - from.size() + i];
  }
  if (!fits) call.refuse("{} does not broadcast to {}", print_shape(from), print_shape(to));
  return {{call.element(0), to}};
}

Nest nest_of_expand(isl::ctx ctx, const Call& call) {
  Type output = types_of_expand(call).front();
  NestBuilder b(ctx, "expand");
  size_t I = declare(b, call, 0, "I"), O = declare_output(b, output);
  StatementBuilder::Extents loops = loops_over(output.shape);
  auto& s = b.statement("expand", loops);
  s.assign(O, at(s, loops), s.read(I, broadcast_at(s, at(s, loops), call.shape(0))));
  return b.build();
}

}  // namespace

Op expand() {
  return {.name = "expand",
          .summary = "dimensions of extent 1 become longer",
          .examples = {"expand(f32[3x1], shape=[2, 3, 4])", "expand(f32[1x2], shape=[3, 2])"},
          .graph = {.settings = {{"shape", Shape{}, "of the output", Setting::Need::required}},
                    .infer = types_of_expand,
                    .nest = nest_of_expand}};
}

}  // namespace lathe::ops
