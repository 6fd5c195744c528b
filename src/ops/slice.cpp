// slice.cpp: a part of a tensor: in each dimension so many elements from a start on, in steps.
//
//   O[c, h] = I[start + step*c, h]
#include "ops/op_dims.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_slice(const Call& call) {
  const Shape& shape = call.shape(0);
  const Shape &starts = call.integers("starts"), &sizes = call.integers("sizes");
  Shape steps = call.integers("steps", shape.size());
  if (starts.size() != shape.size() || sizes.size() != shape.size()) {
    call.refuse("starts and sizes need one number for each dimension of {}", print_shape(shape));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    long last = starts[i] + steps[i] * (sizes[i] - 1);
    bool inside = starts[i] >= 0 && starts[i] < shape[i] && last >= 0 && last < shape[i];
    if (sizes[i] < 0 || steps[i] == 0 || (sizes[i] > 0 && !inside)) {
      call.refuse("{} elements from {} on in steps of {} are not all in dimension {} of {}",
                  sizes[i], starts[i], steps[i], i, print_shape(shape));
    }
  }
  return {{call.element(0), sizes}};
}

Nest nest_of_slice(isl::ctx ctx, const Call& call) {
  Type output = types_of_slice(call).front();
  NestBuilder b(ctx, "slice");
  size_t I = declare(b, call, 0, "I"), O = declare_output(b, output);
  StatementBuilder::Extents loops = loops_over(output.shape);
  auto& s = b.statement("slice", loops);
  const Shape& starts = call.integers("starts");
  Shape steps = call.integers("steps", starts.size());
  std::vector<Index> to = at(s, loops), from = to;
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = from[i] * steps[i] + starts[i];
  }
  s.assign(O, to, s.read(I, from));
  return b.build();
}

}  // namespace

Op slice() {
  return {.name = "slice",
          .summary = "a part of a tensor",
          .examples = {"slice(f32[4x6], starts=[1, 5], sizes=[2, 3], steps=[1, -2])",
                       "slice(f32[2x3x4], starts=[0, 1, 0], sizes=[2, 2, 4])"},
          .graph = {.settings = {{"starts", Shape{}, "first index in each dimension",
                                  Setting::Need::required},
                                 {"sizes", Shape{}, "elements in each dimension",
                                  Setting::Need::required},
                                 {"steps", Shape{}, "from one index to the next; all 1",
                                  Setting::Need::optional, 1L}},
                    .infer = types_of_slice,
                    .nest = nest_of_slice}};
}

}  // namespace lathe::ops
