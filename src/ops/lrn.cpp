// lrn.cpp: each element divided by a power of the squares of the channels around it.
//
//   S[c, h, w] += I[c + k, h, w] * I[c + k, h, w]
//   O[c, h, w] = I[c + before, h, w] / pow(bias + alpha / size * S[c, h, w], beta)
//
// The input is stored with zeros around its channels: "before" of them in front.
#include "ops/op_check.h"
#include "ops/op_dims.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_lrn(const Call& call) {
  check_float(call, 0);
  const Shape& shape = call.shape(0);
  if (shape.size() < 2) call.refuse("the input {} has no channels", print_shape(shape));
  long size = call.integer("size");
  if (size < 1 || size > (1L << 30)) call.refuse("size={} is out of range", size);
  return {call.type(0)};
}

Nest nest_of_lrn_call(isl::ctx ctx, const Call& call) {
  const Type& type = call.type(0);
  long size = call.integer("size"), before = (size - 1) / 2;
  StatementBuilder::Extents loops = loops_over(type.shape);
  Shape stored = type.shape;
  std::vector<Pad> pads(stored.size());
  stored[1] += size - 1;
  pads[1] = {before, size - 1 - before};
  NestBuilder b(ctx, "lrn");
  size_t I = b.tensor("I", call.role(0), stored, pads, 0, type.element);
  size_t S = b.tensor("S", Role::local, type.shape, type.element);
  size_t O = declare_output(b, type);
  auto& sum = b.statement("squares", joined(loops, {{"k", size}}));
  std::vector<Index> around = at(sum, loops);
  around[1] = around[1] + sum["k"];
  Expr x = sum.read(I, around);
  sum.add(S, at(sum, loops), x * x);
  auto& s = b.statement("divide", loops);
  std::vector<Index> here = at(s, loops);
  here[1] = here[1] + before;
  Expr input = s.read(I, here), squares = s.read(S, at(s, loops));
  Expr base = number(call.real("alpha") / static_cast<double>(size)) * squares;
  base = number(call.real("bias")) + base;
  s.assign(O, at(s, loops), input / lathe::call(Expr::Op::pow, {base, number(call.real("beta"))}));
  return b.build();
}

}  // namespace

Op lrn() {
  return {.name = "lrn",
          .summary = "normalisation by the channels around each element",
          .examples = {"lrn(f32[2x5x3], size=3)",
                       "lrn(f32[1x4x2x3], size=4, alpha=0.5, beta=0.5, bias=2.0)"},
          .graph = {.settings = {{"size", 1L, "channels to sum over", Setting::Need::required},
                                 {"alpha", 0.0001, "factor of the mean square"},
                                 {"beta", 0.75, "exponent"},
                                 {"bias", 1.0, "added to the mean square"}},
                    .infer = types_of_lrn,
                    .nest = nest_of_lrn_call}};
}

}  // namespace lathe::ops
