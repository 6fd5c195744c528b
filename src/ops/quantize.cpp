// quantize.cpp: real numbers as small integers.
//
//   O[n, c] = max(min(round(I[n, c] / scale[c]) + zero[c], highest), lowest)
//
// Without scale numbers are rounded as they are. Without zero they are bounded before, which comes
// to the same, and lets a processor round as it converts.
#include "ops/op_check.h"
#include "ops/op_dims.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_quantize(const Call& call) {
  Element to = element_setting(call, "to", {Element::u8, Element::i8, Element::u16, Element::i16});
  if (call.has(1)) {
    check_float(call, 1);
    check_broadcasts_to(call, 1, call.shape(0));
  }
  if (call.has(2)) {
    check_broadcasts_to(call, 2, call.shape(0));
    if (call.element(2) != to) {
      call.refuse("the zero is of the type {}, but to=\"{}\"", name_of(call.element(2)),
                  name_of(to));
    }
  }
  return {{to, call.shape(0)}};
}

Nest nest_of_quantize_call(isl::ctx ctx, const Call& call) {
  Type type = types_of_quantize(call).front();
  StatementBuilder::Extents loops = loops_over(type.shape);
  NestBuilder b(ctx, "quantize");
  auto& s = b.statement("quantize", loops);
  auto operand = [&](size_t i, const char* name) {
    return s.read(declare(b, call, i, name), broadcast_at(s, at(s, loops), call.shape(i)));
  };
  Expr x = operand(0, "I");
  if (call.has(1)) {
    // Which of two integers is nearer is decided on what an f32 can hold, as everybody does.
    x = x / operand(1, "scale");
    if (call.element(1) != Element::f64) x = lathe::call(Expr::Op::single, {x});
  }
  auto bounded = [&](const Expr& value) {
    Expr lowest = number(static_cast<double>(lowest_of(type.element)));
    Expr highest = number(static_cast<double>(highest_of(type.element)));
    return lathe::call(Expr::Op::max, {lathe::call(Expr::Op::min, {value, highest}), lowest});
  };
  auto rounded = [](const Expr& value) { return lathe::call(Expr::Op::round, {value}); };
  Expr value = call.has(2) ? bounded(rounded(x) + operand(2, "zero")) : rounded(bounded(x));
  s.assign(declare_output(b, type), at(s, loops), value);
  return b.build();
}

}  // namespace

Op quantize() {
  return {.name = "quantize",
          .summary = "real numbers as small integers",
          .examples = {"quantize(f32[2x3])", "quantize(f32[2x3], f32[])",
                       "quantize(f32[2x3x4], f32[3x1], i8[3x1], to=\"i8\")"},
          .graph = {.least = 1,
                    .most = 3,
                    .settings = {{"to", std::string("u8"), "the element type: u8, i8, u16, i16"}},
                    .infer = types_of_quantize,
                    .nest = nest_of_quantize_call}};
}

}  // namespace lathe::ops
