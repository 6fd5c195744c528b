// conv.cpp: the convolution, in two dimensions, with any kernel, stride, dilation, padding, groups.
//
//   O[co, oh, ow] = B[co];  O[co, oh, ow] += W[co, ci, kh, kw] * I[ci, s*oh + d*kh, s*ow + d*kw]
//
// With groups, g is the outermost loop, co and ci count inside a group, and W[co, ci] has Co/G
// filters of Ci/G channels a group: what group(G) makes of the dense operator.
#include "base/error.h"
#include "ops/op_shape.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  check_sizes("conv", p, {"co", "ci", "groups"});
  long n = p["n"], groups = p["groups"];
  if (p["co"] % groups != 0 || p["ci"] % groups != 0) {
    fail("conv: groups={} must divide co={} and ci={}", groups, p["co"], p["ci"]);
  }
  long co = p["co"] / groups, ci = p["ci"] / groups;
  Window w = window("conv", p, p["dilation"]);

  NestBuilder b(ctx, "conv");
  size_t I = padded_input(b, w, n, p["ci"]);
  size_t W = b.tensor("W", Role::weight, {p["co"], ci, w.kh, w.kw});
  size_t O = b.tensor("O", Role::output, batched_shape(n, {p["co"], w.oh, w.ow}));
  if (is_set("conv", p, "bias")) {
    assign_bias(b, O, n, {{"co", p["co"]}, {"oh", w.oh}, {"ow", w.ow}});
  }
  auto& s = b.statement("conv", batched_loops(n, {{"g", groups},
                                                  {"co", co},
                                                  {"ci", ci},
                                                  {"oh", w.oh},
                                                  {"ow", w.ow},
                                                  {"kh", w.kh},
                                                  {"kw", w.kw}}));
  Index filter = s["g"] * co + s["co"], channel = s["g"] * ci + s["ci"];
  Expr weight = s.read(W, {filter, s["ci"], s["kh"], s["kw"]});
  Expr input = s.read(I, under_window(s, w, n, channel));
  s.add(O, batched_at(s, n, {filter, s["oh"], s["ow"]}), weight * input);
  return b.build();
}

}  // namespace

Op conv() {
  return {
      "conv",
      "convolution in two dimensions",
      window_params({batch_param(),
                     {"co", std::nullopt, "output channels (filters)"},
                     {"ci", std::nullopt, "input channels"}},
                    {{"dilation", 1, "input rows and columns from one kernel element to the next"},
                     {"groups", 1, "channels are split into so many independent groups"},
                     {"bias", 0, "1: a bias for each output channel"}}),
      nest,
      {"conv(co=4, ci=6, oh=5, ow=4, k=3, pad=1)",
       "conv(n=2, co=4, ci=4, oh=3, ow=3, kh=3, kw=1, stride=2, bias=1)",
       "conv(co=6, ci=4, oh=4, ow=4, k=3, dilation=2, pad=2, groups=2)"}};
}

}  // namespace lathe::ops
