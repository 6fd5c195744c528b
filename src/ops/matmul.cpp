// matmul.cpp: the product of two matrices, both computed by the network.
//
//   O[i, j] += A[i, k] * B[k, j]
//
// With n samples there are n products: A, B and O all have the batch dimension.
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

Nest nest(isl::ctx ctx, const Params& p) {
  check_sizes("matmul", p, {"i", "j", "k"});
  long n = p["n"], i = p["i"], j = p["j"], k = p["k"];
  NestBuilder b(ctx, "matmul");
  size_t A = b.tensor("A", Role::input, batched_shape(n, {i, k}));
  size_t B = b.tensor("B", Role::input, batched_shape(n, {k, j}));
  size_t O = b.tensor("O", Role::output, batched_shape(n, {i, j}));
  auto& s = b.statement("matmul", batched_loops(n, {{"i", i}, {"j", j}, {"k", k}}));
  Expr left = s.read(A, batched_at(s, n, {s["i"], s["k"]}));
  Expr right = s.read(B, batched_at(s, n, {s["k"], s["j"]}));
  s.add(O, batched_at(s, n, {s["i"], s["j"]}), left * right);
  return b.build();
}

}  // namespace

Op matmul() {
  return {"matmul",
          "product of two matrices",
          {batch_param(),
           {"i", std::nullopt, "rows of A and of the output"},
           {"j", std::nullopt, "columns of B and of the output"},
           {"k", std::nullopt, "columns of A, rows of B"}},
          nest,
          {"matmul(i=4, j=5, k=6)", "matmul(n=2, i=3, j=4, k=5)", "matmul(i=1, j=7, k=3)"}};
}

}  // namespace lathe::ops
