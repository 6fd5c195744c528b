// cumsum.cpp: the sums of the first elements along a dimension.
//
//   O[i] += I[j]   where j <= i
//
// To leave out the last of them, the input is stored with a zero before its first element. To sum
// from the end, both indices count from the end.
#include "ops/op_dims.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_cumsum(const Call& call) {
  call.axis("axis", call.shape(0).size());
  call.flag("exclusive");
  call.flag("reverse");
  return {call.type(0)};
}

Nest nest_of_cumsum_call(isl::ctx ctx, const Call& call) {
  const Type& type = call.type(0);
  size_t axis = call.axis("axis", type.shape.size());
  long extent = type.shape[axis];
  bool reverse = call.flag("reverse");
  Shape stored = type.shape;
  std::vector<Pad> pads(stored.size());
  if (call.flag("exclusive")) {
    ++stored[axis];
    pads[axis] = reverse ? Pad{0, 1} : Pad{1, 0};
  }
  StatementBuilder::Extents loops = loops_over(type.shape);
  NestBuilder b(ctx, "cumsum");
  size_t I = b.tensor("I", call.role(0), stored, pads, 0, type.element);
  size_t O = declare_output(b, type);
  auto& s = b.statement("cumsum", joined(loops, {{"j", extent}}));
  std::vector<Index> to = at(s, loops), from = to;
  from[axis] = s["j"];
  s.where_not_negative(to[axis] + from[axis] * -1);
  if (reverse) {
    to[axis] = to[axis] * -1 + (extent - 1);
    from[axis] = from[axis] * -1 + (stored[axis] - 1);
  }
  s.add(O, to, s.read(I, from));
  return b.build();
}

}  // namespace

Op cumsum() {
  return {.name = "cumsum",
          .summary = "sums of the first elements along one dimension",
          .examples = {"cumsum(f32[2x5], axis=1)", "cumsum(f32[4x3], axis=0, exclusive=1)",
                       "cumsum(i32[2x3x4], axis=-2, exclusive=1, reverse=1)"},
          .graph = {.settings = {{"axis", 0L, "the dimension", Setting::Need::required},
                                 {"exclusive", 0L, "1: without the element itself"},
                                 {"reverse", 0L, "1: the last elements, not the first"}},
                    .infer = types_of_cumsum,
                    .nest = nest_of_cumsum_call}};
}

}  // namespace lathe::ops
