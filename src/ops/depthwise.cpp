// depthwise.cpp: the depthwise convolution: every channel has a filter of its own.
//
//   O[c, oh, ow] = B[c];  O[c, oh, ow] += W[c, kh, kw] * I[c, s*oh + d*kh, s*ow + d*kw]
#include "ops/op_shape.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  check_sizes("depthwise", p, {"c"});
  long n = p["n"], c = p["c"];
  Window w = window("depthwise", p, p["dilation"]);

  NestBuilder b(ctx, "depthwise");
  size_t I = padded_input(b, w, n, c);
  size_t W = b.tensor("W", Role::weight, {c, w.kh, w.kw});
  size_t O = b.tensor("O", Role::output, batched_shape(n, {c, w.oh, w.ow}));
  if (is_set("depthwise", p, "bias")) {
    assign_bias(b, O, n, {{"c", c}, {"oh", w.oh}, {"ow", w.ow}});
  }
  auto& s = b.statement(
      "depthwise",
      batched_loops(n, {{"c", c}, {"oh", w.oh}, {"ow", w.ow}, {"kh", w.kh}, {"kw", w.kw}}));
  Expr weight = s.read(W, {s["c"], s["kh"], s["kw"]});
  Expr input = s.read(I, under_window(s, w, n, s["c"]));
  s.add(O, batched_at(s, n, {s["c"], s["oh"], s["ow"]}), weight * input);
  return b.build();
}

}  // namespace

Op depthwise() {
  return {
      "depthwise",
      "convolution of each channel with its own filter",
      window_params({batch_param(), {"c", std::nullopt, "channels"}},
                    {{"dilation", 1, "input rows and columns from one kernel element to the next"},
                     {"bias", 0, "1: a bias for each channel"}}),
      nest,
      {"depthwise(c=4, oh=5, ow=4, k=3, pad=1)",
       "depthwise(n=2, c=3, oh=3, ow=2, kh=1, kw=3, stride=2, bias=1)",
       "depthwise(c=3, oh=4, ow=4, k=3, dilation=2, pad=2)"}};
}

}  // namespace lathe::ops
