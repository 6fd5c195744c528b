// dequantize.cpp: small integers as the real numbers that they stand for.
//
//   O[n, c] = (I[n, c] - zero[c]) * scale[c]
#include "ops/op_check.h"
#include "ops/op_dims.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_dequantize(const Call& call) {
  check_integral(call, 0);
  check_float(call, 1);
  check_broadcasts_to(call, 1, call.shape(0));
  if (call.has(2)) {
    check_broadcasts_to(call, 2, call.shape(0));
    check_same_element(call, 2);
  }
  return {{call.element(1), call.shape(0)}};
}

Nest nest_of_dequantize_call(isl::ctx ctx, const Call& call) {
  Type type = types_of_dequantize(call).front();
  StatementBuilder::Extents loops = loops_over(type.shape);
  NestBuilder b(ctx, "dequantize");
  auto& s = b.statement("dequantize", loops);
  auto operand = [&](size_t i, const char* name) {
    return s.read(declare(b, call, i, name), broadcast_at(s, at(s, loops), call.shape(i)));
  };
  Expr x = operand(0, "I"), scale = operand(1, "scale");
  if (call.has(2)) x = x - operand(2, "zero");
  Expr value = x * scale;
  s.assign(declare_output(b, type), at(s, loops), value);
  return b.build();
}

}  // namespace

Op dequantize() {
  return {
      .name = "dequantize",
      .summary = "small integers as the real numbers that they stand for",
      .examples = {"dequantize(u8[2x3], f32[], u8[])", "dequantize(i8[2x3x4], f32[3x1])"},
      .graph = {
          .least = 2, .most = 3, .infer = types_of_dequantize, .nest = nest_of_dequantize_call}};
}

}  // namespace lathe::ops
