// cast.cpp: the elements converted to another type.
//
//   O[n, c] = I[n, c]
//
// To an integral type the fraction is dropped; what is not 0 is true.
#include "ops/op_check.h"
#include "ops/op_dims.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_cast(const Call& call) {
  return {{element_setting(call, "to"), call.shape(0)}};
}

Nest nest_of_cast_call(isl::ctx ctx, const Call& call) {
  Type output = types_of_cast(call).front();
  StatementBuilder::Extents loops = loops_over(output.shape);
  NestBuilder b(ctx, "cast");
  size_t I = declare(b, call, 0, "I"), O = declare_output(b, output);
  auto& s = b.statement("cast", loops);
  Expr x = s.read(I, at(s, loops));
  if (output.element == Element::boolean) {
    x = number(1) - lathe::call(Expr::Op::equal, {x, number(0)});
  }
  s.assign(O, at(s, loops), x);
  return b.build();
}

}  // namespace

Op cast() {
  return {
      .name = "cast",
      .summary = "elements converted to another type",
      .examples = {"cast(f32[2x3], to=\"i32\")", "cast(i64[5], to=\"bool\")", "cast(u8[2x2x2])"},
      .graph = {.settings = {{"to", std::string("f32"), "the element type"}},
                .infer = types_of_cast,
                .nest = nest_of_cast_call}};
}

}  // namespace lathe::ops
