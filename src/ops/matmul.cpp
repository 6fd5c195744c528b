// matmul.cpp: the product of two matrices.
//
//   O[i, j] += A[i, k] * B[k, j]
//
// With n samples there are n products: A, B and O all have the batch dimension. In graphs the
// operands may have any number of dimensions before the last two, which broadcast, or be vectors.
#include <algorithm>

#include "ops/op_check.h"
#include "ops/op_dims.h"
#include "ops/op_shape.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

Nest nest_of_matmul_sizes(isl::ctx ctx, const Params& p) {
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

/// The shapes of a product in a graph, taken apart.
struct Product {
  Shape a, b;          ///< dimensions before the matrices
  Shape batch;         ///< both broadcast
  bool rows, columns;  ///< has A rows, has B columns? If not it is a vector
  long i, j, k;
};

Product product_of(const Call& call) {
  Shape a = call.shape(0), b = call.shape(1);
  if (a.empty() || b.empty()) call.refuse("a scalar is no matrix");
  Product p{{}, {}, {}, a.size() > 1, b.size() > 1, 1, 1, a.back()};
  if (p.rows) p.i = a[a.size() - 2];
  if (p.columns) p.j = b.back();
  if (b[b.size() - (p.columns ? 2 : 1)] != p.k) {
    call.refuse("{} times {}: the inner extents differ", print_shape(a), print_shape(b));
  }
  p.a.assign(a.begin(), a.end() - (p.rows ? 2 : 1));
  p.b.assign(b.begin(), b.end() - (p.columns ? 2 : 1));
  Call batch(*find_op("add"), {Operand{{Element::f32, p.a}}, Operand{{Element::f32, p.b}}}, {});
  p.batch = broadcast(batch, 0, 1);
  return p;
}

std::vector<Type> types_of_matmul(const Call& call) {
  Product p = product_of(call);
  Shape shape = p.batch;
  if (p.rows) shape.push_back(p.i);
  if (p.columns) shape.push_back(p.j);
  return {{sums_element(call, 2), shape}};
}

Nest nest_of_matmul_call(isl::ctx ctx, const Call& call) {
  Product p = product_of(call);
  StatementBuilder::Extents batch;
  for (size_t d = 0; d < p.batch.size(); ++d) {
    batch.emplace_back(d == 0 ? std::string(batch_loop) : fmt::format("n{}", d), p.batch[d]);
  }
  NestBuilder b(ctx, "matmul");
  size_t A = declare(b, call, 0, "A"), B = declare(b, call, 1, "B");
  size_t O = declare_output(b, types_of_matmul(call).front());
  auto& s = b.statement("matmul", joined(batch, {{"i", p.i}, {"j", p.j}, {"k", p.k}}));
  std::vector<Index> left = broadcast_at(s, at(s, batch), p.a);
  std::vector<Index> right = broadcast_at(s, at(s, batch), p.b);
  std::vector<Index> output = at(s, batch);
  if (p.rows) left.push_back(s["i"]);
  left.push_back(s["k"]);
  right.push_back(s["k"]);
  if (p.columns) right.push_back(s["j"]);
  if (p.rows) output.push_back(s["i"]);
  if (p.columns) output.push_back(s["j"]);
  Expr x = s.read(A, left), y = s.read(B, right);
  s.add(O, output, x * y);
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
          nest_of_matmul_sizes,
          {"matmul(i=4, j=5, k=6)", "matmul(n=2, i=3, j=4, k=5)", "matmul(i=1, j=7, k=3)",
           "matmul(f32[2x1x3x4], f32[5x4x2])", "matmul(u8[3x4], i8[4x2], to=\"i32\")"},
          {.least = 2,
           .most = 2,
           .settings = {sums_setting()},
           .infer = types_of_matmul,
           .nest = nest_of_matmul_call}};
}

}  // namespace lathe::ops
