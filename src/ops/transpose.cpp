// transpose.cpp: the dimensions in another order: dimension i of the output is perm[i] of the
// input.
//
//   O[w, c, h] = I[c, h, w]
#include <algorithm>

#include "ops/op_dims.h"

namespace lathe::ops {
namespace {

Shape permutation(const Call& call) {
  Shape perm = call.integers("perm"), sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool valid = perm.size() == call.shape(0).size();
  for (size_t i = 0; i < sorted.size(); ++i) valid = valid && sorted[i] == static_cast<long>(i);
  if (!valid) {
    call.refuse("perm={} does not order the {} dimensions of {}", print_attribute(perm),
                call.shape(0).size(), print_shape(call.shape(0)));
  }
  return perm;
}

std::vector<Type> types_of_transpose(const Call& call) {
  Shape shape;
  for (long d : permutation(call)) shape.push_back(call.shape(0)[static_cast<size_t>(d)]);
  return {{call.element(0), shape}};
}

Nest nest_of_transpose(isl::ctx ctx, const Call& call) {
  Type output = types_of_transpose(call).front();
  Shape perm = permutation(call);
  NestBuilder b(ctx, "transpose");
  size_t I = declare(b, call, 0, "I"), O = declare_output(b, output);
  StatementBuilder::Extents loops = loops_over(output.shape);
  auto& s = b.statement("transpose", loops);
  std::vector<Index> to = at(s, loops), from(to.size(), s.at(0));
  for (size_t i = 0; i < perm.size(); ++i) from[static_cast<size_t>(perm[i])] = to[i];
  s.assign(O, to, s.read(I, from));
  return b.build();
}

}  // namespace

Op transpose() {
  return {.name = "transpose",
          .summary = "the dimensions in another order",
          .examples = {"transpose(f32[2x3x4], perm=[2, 0, 1])", "transpose(f32[2x3], perm=[1, 0])"},
          .graph = {.settings = {{"perm", Shape{}, "which dimension of the input comes here",
                                  Setting::Need::required}},
                    .infer = types_of_transpose,
                    .nest = nest_of_transpose}};
}

}  // namespace lathe::ops
