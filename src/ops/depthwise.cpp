// depthwise.cpp: the depthwise convolution: every channel has a filter of its own.
//
//   O[c, oh, ow] = B[c];  O[c, oh, ow] += W[c, kh, kw] * I[c, s*oh + d*kh, s*ow + d*kw]
//
// In graphs it is a convolution with as many groups as channels.
#include "ops/op_dims.h"
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
  size_t W = b.tensor("W", Role::weight, joined({c}, elements(w)));
  size_t O = b.tensor("O", Role::output, batched_shape(n, joined({c}, outputs(w))));
  StatementBuilder::Extents all = joined({{"c", c}}, output_loops(w));
  if (is_set("depthwise", p, "bias")) assign_bias(b, O, n, all);
  auto& s = b.statement("depthwise", batched_loops(n, joined(all, kernel_loops(w))));
  Expr weight = s.read(W, joined({s["c"]}, at(s, kernel_loops(w))));
  Expr input = s.read(I, under_window(s, w, n, s["c"]));
  s.add(O, batched_at(s, n, at(s, all)), weight * input);
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
