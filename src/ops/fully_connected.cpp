// fully_connected.cpp: every output channel sees every input channel.
//
//   O[co] = B[co];  O[co] += W[co, ci] * I[ci]
#include "ops/op_check.h"
#include "ops/op_dims.h"
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

struct Layer {
  long n, co, ci;
  bool bias;
  Element input = Element::f32, weight = Element::f32, sums = Element::f32;
};

Nest nest_of_fully_connected(isl::ctx ctx, const Layer& l) {
  NestBuilder b(ctx, "fully_connected");
  size_t I = b.tensor("I", Role::input, batched_shape(l.n, {l.ci}), l.input);
  size_t W = b.tensor("W", Role::weight, {l.co, l.ci}, l.weight);
  size_t O = b.tensor("O", Role::output, batched_shape(l.n, {l.co}), l.sums);
  if (l.bias) assign_bias(b, O, l.n, {{"co", l.co}}, l.sums);
  auto& s = b.statement("fully_connected", batched_loops(l.n, {{"co", l.co}, {"ci", l.ci}}));
  Expr weight = s.read(W, {s["co"], s["ci"]}), input = s.read(I, batched_at(s, l.n, {s["ci"]}));
  s.add(O, batched_at(s, l.n, {s["co"]}), weight * input);
  return b.build();
}

Nest nest_of_fully_connected_sizes(isl::ctx ctx, const Params& p) {
  check_sizes("fully_connected", p, {"co", "ci"});
  return nest_of_fully_connected(ctx,
                                 {p["n"], p["co"], p["ci"], is_set("fully_connected", p, "bias")});
}

Layer layer_of(const Call& call) {
  const Shape &input = call.shape(0), &weight = call.shape(1);
  Element sums = sums_element(call, 2);
  if (input.size() != 2 || weight.size() != 2 || input[1] != weight[1]) {
    call.refuse("weights {} do not fit the input {}", print_shape(weight), print_shape(input));
  }
  if (call.has(2) && call.shape(2) != Shape{weight[0]}) {
    call.refuse("the bias {} must have {} elements", print_shape(call.shape(2)), weight[0]);
  }
  return {input[0], weight[0], input[1], call.has(2), call.element(0), call.element(1), sums};
}

std::vector<Type> types_of_fully_connected(const Call& call) {
  Layer l = layer_of(call);
  return {{l.sums, {l.n, l.co}}};
}

}  // namespace

Op fully_connected() {
  return {"fully_connected",
          "matrix of weights times a vector of channels",
          {batch_param(),
           {"co", std::nullopt, "output channels"},
           {"ci", std::nullopt, "input channels"},
           {"bias", 0, "1: a bias for each output channel"}},
          nest_of_fully_connected_sizes,
          {"fully_connected(co=5, ci=7)", "fully_connected(n=3, co=4, ci=6, bias=1)",
           "fully_connected(f32[2x3], f32[4x3], f32[4])",
           "fully_connected(f16[2x3], f16[4x3], f32[4], to=\"f32\")"},
          {.least = 2,
           .most = 3,
           .settings = {sums_setting()},
           .infer = types_of_fully_connected,
           .nest = [](isl::ctx ctx, const Call& call) {
             return nest_of_fully_connected(ctx, layer_of(call));
           }}};
}

}  // namespace lathe::ops
