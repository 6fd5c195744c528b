// global_pool.cpp: the mean of each channel.
//
//   S[c] += I[c, h, w];  O[c] = S[c] / (H*W)
//
// In graphs the output keeps the dimensions, of extent 1.
#include "ops/op_dims.h"
#include "ops/op_shape.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

/// "inner" are the loops that the mean is taken over; "kept" zeros follow the output's channel.
Nest nest_of_global_pool(isl::ctx ctx, long n, long c, const StatementBuilder::Extents& inner,
                         size_t kept, Element element) {
  StatementBuilder::Extents outer = batched_loops(n, {{"c", c}});
  NestBuilder b(ctx, "global_pool");
  Shape shape = batched_shape(n, {c}), input = shape;
  double count = 1;
  for (const auto& [name, extent] : inner) {
    input.push_back(extent);
    count *= static_cast<double>(extent);
  }
  size_t I = b.tensor("I", Role::input, input, element);
  size_t S = b.tensor("S", Role::local, shape, element);
  size_t O = b.tensor("O", Role::output, joined(shape, Shape(kept, 1)), element);
  auto& sum = b.statement("sum", joined(outer, inner));
  sum.add(S, at(sum, outer), sum.read(I, at(sum, joined(outer, inner))));
  auto& s = b.statement("divide", outer);
  std::vector<Index> zeros(kept, s.at(0));
  s.assign(O, joined(at(s, outer), zeros), s.read(S, at(s, outer)) / number(count));
  return b.build();
}

Nest nest_of_global_pool_sizes(isl::ctx ctx, const Params& p) {
  check_sizes("global_pool", p, {"c", "h", "w"});
  return nest_of_global_pool(ctx, p["n"], p["c"], {{"h", p["h"]}, {"w", p["w"]}}, 0, Element::f32);
}

Nest nest_of_global_pool_call(isl::ctx ctx, const Call& call) {
  StatementBuilder::Extents loops = loops_over(call.shape(0));
  StatementBuilder::Extents inner(loops.begin() + 2, loops.end());
  return nest_of_global_pool(ctx, call.shape(0)[0], call.shape(0)[1], inner, inner.size(),
                             call.element(0));
}

std::vector<Type> types_of_global_pool(const Call& call) {
  Shape shape = call.shape(0);
  if (shape.size() < 3) call.refuse("the input {} needs rows", print_shape(shape));
  std::fill(shape.begin() + 2, shape.end(), 1);
  return {{call.element(0), shape}};
}

}  // namespace

Op global_pool() {
  return {"global_pool",
          "mean of each channel",
          {batch_param(),
           {"c", std::nullopt, "channels"},
           {"h", std::nullopt, "rows"},
           {"w", std::nullopt, "columns"}},
          nest_of_global_pool_sizes,
          {"global_pool(c=3, h=4, w=5)", "global_pool(n=2, c=3, h=1, w=3)",
           "global_pool(f32[2x3x4x5])"},
          {.infer = types_of_global_pool, .nest = nest_of_global_pool_call}};
}

}  // namespace lathe::ops
