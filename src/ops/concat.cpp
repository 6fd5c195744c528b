// concat.cpp: the channels of two tensors, one after the other.
//
//   O[c, h, w] = A[c, h, w];  O[c + C1, h, w] = B[c, h, w]
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  check_sizes("concat", p, {"c1", "c2", "h", "w"});
  long n = p["n"], c1 = p["c1"], c2 = p["c2"], h = p["h"], w = p["w"];
  NestBuilder b(ctx, "concat");
  size_t A = b.tensor("A", Role::input, batched_shape(n, {c1, h, w}));
  size_t B = b.tensor("B", Role::input, batched_shape(n, {c2, h, w}));
  size_t O = b.tensor("O", Role::output, batched_shape(n, {c1 + c2, h, w}));
  auto copy = [&](const char* name, size_t from, long channels, long offset) {
    auto& s = b.statement(name, batched_loops(n, {{"c", channels}, {"h", h}, {"w", w}}));
    s.assign(O, batched_at(s, n, {s["c"] + offset, s["h"], s["w"]}),
             s.read(from, batched_at(s, n, {s["c"], s["h"], s["w"]})));
  };
  copy("first", A, c1, 0);
  copy("second", B, c2, c1);
  return b.build();
}

}  // namespace

Op concat() {
  return {"concat",
          "channels of two tensors, one after the other",
          {batch_param(),
           {"c1", std::nullopt, "channels of the first tensor"},
           {"c2", std::nullopt, "channels of the second tensor"},
           {"h", std::nullopt, "rows"},
           {"w", std::nullopt, "columns"}},
          nest,
          {"concat(c1=2, c2=3, h=4, w=5)", "concat(n=2, c1=3, c2=1, h=2, w=3)"}};
}

}  // namespace lathe::ops
