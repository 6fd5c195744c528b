// conv.cpp: the convolution, with any kernel, stride, dilation, padding, groups.
//
//   O[co, oh, ow] = B[co];  O[co, oh, ow] += W[co, ci, kh, kw] * I[ci, s*oh + d*kh, s*ow + d*kw]
//
// With groups, g is the outermost loop, co and ci count inside a group, and W[co, ci] has Co/G
// filters of Ci/G channels a group: what group(G) makes of the dense operator. In graphs the input
// may have one, two or three dimensions besides batch and channels; both factors may be narrower
// than the sums, and the padding may hold what stands for 0.
#include "base/error.h"
#include "ops/op_check.h"
#include "ops/op_dims.h"
#include "ops/op_shape.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

struct Conv {
  long n, co, ci, groups;
  bool bias;
  Window window;
  Element input = Element::f32, weight = Element::f32, sums = Element::f32;
  double padding = 0;
};

Nest nest_of_conv(isl::ctx ctx, const Conv& c) {
  long co = c.co / c.groups, ci = c.ci / c.groups;
  const Window& w = c.window;
  NestBuilder b(ctx, "conv");
  size_t I = padded_input(b, w, c.n, c.ci, c.padding, c.input);
  size_t W = b.tensor("W", Role::weight, joined({c.co, ci}, elements(w)), c.weight);
  size_t O = b.tensor("O", Role::output, batched_shape(c.n, joined({c.co}, outputs(w))), c.sums);
  if (c.bias) assign_bias(b, O, c.n, joined({{"co", c.co}}, output_loops(w)), c.sums);
  auto& s = b.statement(
      "conv",
      batched_loops(c.n, joined(joined({{"g", c.groups}, {"co", co}, {"ci", ci}}, output_loops(w)),
                                kernel_loops(w))));
  Index filter = s["g"] * co + s["co"], channel = s["g"] * ci + s["ci"];
  Expr weight = s.read(W, joined({filter, s["ci"]}, at(s, kernel_loops(w))));
  Expr input = s.read(I, under_window(s, w, c.n, channel));
  s.add(O, batched_at(s, c.n, joined({filter}, at(s, output_loops(w)))), weight * input);
  return b.build();
}

Nest nest_of_conv_sizes(isl::ctx ctx, const Params& p) {
  check_sizes("conv", p, {"co", "ci", "groups"});
  if (p["co"] % p["groups"] != 0 || p["ci"] % p["groups"] != 0) {
    fail("conv: groups={} must divide co={} and ci={}", p["groups"], p["co"], p["ci"]);
  }
  return nest_of_conv(ctx, {p["n"], p["co"], p["ci"], p["groups"], is_set("conv", p, "bias"),
                            window("conv", p, p["dilation"])});
}

Conv conv_of(const Call& call) {
  const Shape &input = call.shape(0), &weight = call.shape(1);
  Element sums = sums_element(call, 2);
  if (input.size() < 3) {
    call.refuse("the input {} needs a batch, channels and rows", print_shape(input));
  }
  if (weight.size() != input.size()) {
    call.refuse("weights {} do not fit the input {}", print_shape(weight), print_shape(input));
  }
  Conv c{input[0],        weight[0],       input[1], call.integer("groups"), call.has(2), {},
         call.element(0), call.element(1), sums,     call.real("padding")};
  c.window = window(call, Shape(weight.begin() + 2, weight.end()));
  if (c.groups < 1 || c.co % c.groups != 0 || weight[1] * c.groups != c.ci) {
    call.refuse("weights {} in {} groups do not fit the input {}", print_shape(weight), c.groups,
                print_shape(input));
  }
  if (c.bias && call.shape(2) != Shape{c.co}) {
    call.refuse("the bias {} must have {} elements", print_shape(call.shape(2)), c.co);
  }
  return c;
}

std::vector<Type> types_of_conv(const Call& call) {
  Conv c = conv_of(call);
  return {{c.sums, joined({c.n, c.co}, outputs(c.window))}};
}

}  // namespace

Op conv() {
  return {
      "conv",
      "convolution",
      window_params({batch_param(),
                     {"co", std::nullopt, "output channels (filters)"},
                     {"ci", std::nullopt, "input channels"}},
                    {{"dilation", 1, "input rows and columns from one kernel element to the next"},
                     {"groups", 1, "channels are split into so many independent groups"},
                     {"bias", 0, "1: a bias for each output channel"}}),
      nest_of_conv_sizes,
      {"conv(co=4, ci=6, oh=5, ow=4, k=3, pad=1)",
       "conv(n=2, co=4, ci=4, oh=3, ow=3, kh=3, kw=1, stride=2, bias=1)",
       "conv(co=6, ci=4, oh=4, ow=4, k=3, dilation=2, pad=2, groups=2)",
       "conv(f32[1x2x5x6], f32[4x2x3x3], f32[4], pads=[0, 1, 2, 1], strides=[2, 1])",
       "conv(i8[1x2x5x6], i8[4x2x3x3], i32[4], pads=[1, 1, 1, 1], padding=3, to=\"i32\")"},
      {.least = 2,
       .most = 3,
       .settings = window_settings({{"groups", 1L, "independent groups of channels"},
                                    {"padding", 0.0, "what the padding holds"},
                                    sums_setting()}),
       .infer = types_of_conv,
       .nest = [](isl::ctx ctx, const Call& call) { return nest_of_conv(ctx, conv_of(call)); }}};
}

}  // namespace lathe::ops
