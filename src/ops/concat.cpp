// concat.cpp: tensors one after the other along one dimension.
//
//   O[c, h, w] = A[c, h, w];  O[c + C1, h, w] = B[c, h, w]
#include "ops/op_dims.h"
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

/// Copies tensor "from" into O, "offset" elements along "axis".
void copy(NestBuilder& b, const std::string& name, size_t from, size_t O,
          const StatementBuilder::Extents& loops, size_t axis, long offset) {
  auto& s = b.statement(name, loops);
  std::vector<Index> to = at(s, loops);
  to[axis] = to[axis] + offset;
  Expr element = s.read(from, at(s, loops));
  s.assign(O, to, element);
}

Nest nest_of_concat_sizes(isl::ctx ctx, const Params& p) {
  check_sizes("concat", p, {"c1", "c2", "h", "w"});
  long n = p["n"], c1 = p["c1"], c2 = p["c2"], h = p["h"], w = p["w"];
  NestBuilder b(ctx, "concat");
  size_t A = b.tensor("A", Role::input, batched_shape(n, {c1, h, w}));
  size_t B = b.tensor("B", Role::input, batched_shape(n, {c2, h, w}));
  size_t O = b.tensor("O", Role::output, batched_shape(n, {c1 + c2, h, w}));
  size_t axis = n > 0 ? 1 : 0;
  copy(b, "first", A, O, batched_loops(n, {{"c", c1}, {"h", h}, {"w", w}}), axis, 0);
  copy(b, "second", B, O, batched_loops(n, {{"c", c2}, {"h", h}, {"w", w}}), axis, c1);
  return b.build();
}

std::vector<Type> types_of_concat(const Call& call) {
  Shape shape = call.shape(0);
  size_t axis = call.axis("axis", shape.size());
  for (size_t i = 1; i < call.inputs(); ++i) {
    check_same_element(call, i);
    Shape other = call.shape(i);
    if (other.size() != shape.size()) {
      call.refuse("{} and {} have different ranks", print_shape(call.shape(0)), print_shape(other));
    }
    shape[axis] += other[axis];
    other[axis] = shape[axis];
    if (other != shape) {
      call.refuse("{} and {} differ in more than axis {}", print_shape(call.shape(0)),
                  print_shape(call.shape(i)), axis);
    }
  }
  return {{call.element(0), shape}};
}

Nest nest_of_concat_call(isl::ctx ctx, const Call& call) {
  Type output = types_of_concat(call).front();
  size_t axis = call.axis("axis", output.shape.size());
  NestBuilder b(ctx, "concat");
  size_t O = declare_output(b, output);
  long offset = 0;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (count_of(call.shape(i)) == 0) continue;
    size_t part = declare(b, call, i, fmt::format("I{}", i));
    copy(b, fmt::format("part{}", i), part, O, loops_over(call.shape(i)), axis, offset);
    offset += call.shape(i)[axis];
  }
  return b.build();
}

}  // namespace

Op concat() {
  return {"concat",
          "tensors one after the other",
          {batch_param(),
           {"c1", std::nullopt, "channels of the first tensor"},
           {"c2", std::nullopt, "channels of the second tensor"},
           {"h", std::nullopt, "rows"},
           {"w", std::nullopt, "columns"}},
          nest_of_concat_sizes,
          {"concat(c1=2, c2=3, h=4, w=5)", "concat(n=2, c1=3, c2=1, h=2, w=3)",
           "concat(f32[2x3], f32[1x3], f32[2x3], axis=0)"},
          {.most = any_number,
           .settings = {{"axis", 1L, "dimension in which they follow each other"}},
           .infer = types_of_concat,
           .nest = nest_of_concat_call}};
}

}  // namespace lathe::ops
