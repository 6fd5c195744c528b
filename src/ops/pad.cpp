// pad.cpp: a border of one value around a tensor.
//
//   O[c, h] = value;  O[c, h + before] = I[c, h]
#include "ops/op_dims.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_pad(const Call& call) {
  Shape shape = call.shape(0);
  const Shape& pads = call.integers("pads");
  if (pads.size() != 2 * shape.size()) {
    call.refuse("pads={} needs two numbers for each dimension of {}", print_attribute(pads),
                print_shape(shape));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    long before = pads[i], after = pads[i + shape.size()];
    if (before < 0 || after < 0) call.refuse("pads={} must not be negative", print_attribute(pads));
    shape[i] += before + after;
  }
  return {{call.element(0), shape}};
}

Nest nest_of_pad(isl::ctx ctx, const Call& call) {
  Type output = types_of_pad(call).front();
  NestBuilder b(ctx, "pad");
  size_t O = declare_output(b, output);
  StatementBuilder::Extents all = loops_over(output.shape), inner = loops_over(call.shape(0));
  auto& fill = b.statement("fill", all);
  fill.assign(O, at(fill, all), number(call.real("value")));
  if (count_of(call.shape(0)) == 0) return b.build();
  size_t I = declare(b, call, 0, "I");
  auto& copy = b.statement("copy", inner);
  std::vector<Index> from = at(copy, inner), to = from;
  for (size_t i = 0; i < to.size(); ++i) to[i] = to[i] + call.integers("pads")[i];
  copy.assign(O, to, copy.read(I, from));
  return b.build();
}

}  // namespace

Op pad() {
  return {.name = "pad",
          .summary = "a border of one value around a tensor",
          .examples = {"pad(f32[2x3], pads=[1, 0, 0, 2])", "pad(f32[3], pads=[1, 1], value=-1.5)"},
          .graph = {.settings = {{"pads", Shape{}, "before each dimension, then after each",
                                  Setting::Need::required},
                                 {"value", 0.0, "what the border holds"}},
                    .infer = types_of_pad,
                    .nest = nest_of_pad}};
}

}  // namespace lathe::ops
