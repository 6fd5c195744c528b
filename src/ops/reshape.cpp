// reshape.cpp: the same elements in another shape; in memory nothing moves.
//
//   O[i, j] = I[(J*i + j) / K, (J*i + j) % K]
#include "ops/op_dims.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_reshape(const Call& call) {
  const Shape& shape = call.integers("shape");
  if (count_of(shape) != count_of(call.shape(0))) {
    call.refuse("{} has {} elements, {} has {}", print_shape(call.shape(0)),
                count_of(call.shape(0)), print_shape(shape), count_of(shape));
  }
  return {{call.element(0), shape}};
}

/// Returns the element of a tensor of "shape" that is so many elements from its first.
std::vector<Index> at_offset(const Index& offset, const Shape& shape) {
  std::vector<Index> result;
  long inner = count_of(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    inner /= shape[i];
    Index index = offset / inner;
    result.push_back(i == 0 ? index : index % shape[i]);
  }
  return result;
}

Nest nest_of_reshape(isl::ctx ctx, const Call& call) {
  Type output = types_of_reshape(call).front();
  NestBuilder b(ctx, "reshape");
  size_t I = declare(b, call, 0, "I"), O = declare_output(b, output);
  StatementBuilder::Extents loops = loops_over(output.shape);
  auto& s = b.statement("reshape", loops);
  Index offset = s.at(0);
  for (const auto& [name, extent] : loops) offset = offset * extent + s[name];
  s.assign(O, at(s, loops), s.read(I, at_offset(offset, call.shape(0))));
  return b.build();
}

std::vector<Array> run_reshape(const Call& call, const std::vector<Array>& inputs) {
  return {inputs[0].with_shape(call.integers("shape"))};
}

}  // namespace

Op reshape() {
  return {
      .name = "reshape",
      .summary = "the same elements in another shape",
      .examples = {"reshape(f32[2x6x2], shape=[4, 6])", "reshape(f32[3x4], shape=[2, 3, 1, 2])"},
      .graph = {.settings = {{"shape", Shape{}, "of the output", Setting::Need::required}},
                .infer = types_of_reshape,
                .nest = nest_of_reshape,
                .run = run_reshape}};
}

}  // namespace lathe::ops
