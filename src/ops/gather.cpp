// gather.cpp: slices of a tensor, chosen by indices.
//
//   O[n, i, j, c] = X[n, indices[i, j], c]      for axis 1
#include "ops/op_check.h"
#include "ops/op_data.h"
#include "ops/op_dims.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

Shape shape_of_gather(const Shape& x, const Shape& indices, size_t axis) {
  auto at = x.begin() + static_cast<long>(axis);
  return joined(joined(Shape(x.begin(), at), indices), Shape(at + 1, x.end()));
}

std::vector<Type> types_of_gather(const Call& call) {
  check_integral(call, 1);
  size_t axis = call.axis("axis", call.shape(0).size());
  return {{call.element(0), shape_of_gather(call.shape(0), call.shape(1), axis)}};
}

Nest nest_of_gather(isl::ctx ctx, const Call& call) {
  Type output = types_of_gather(call).front();
  size_t axis = call.axis("axis", call.shape(0).size()), rank = call.shape(1).size();
  NestBuilder b(ctx, "gather");
  size_t X = declare(b, call, 0, "X"), I = declare(b, call, 1, "I"), O = declare_output(b, output);
  StatementBuilder::Extents loops = loops_over(output.shape);
  auto& s = b.statement("gather", loops);
  std::vector<Index> to = at(s, loops);
  auto first = to.begin() + static_cast<long>(axis), end = first + static_cast<long>(rank);
  std::vector<Index> from(to.begin(), first);
  from.push_back(s.at(0));
  from.insert(from.end(), end, to.end());
  Expr element = s.read(X, from);
  s.assign(O, to, pick(std::move(element), axis, s.read(I, {first, end})));
  return b.build();
}

std::vector<Array> run_gather(const Call& call, const std::vector<Array>& inputs) {
  const Array& x = inputs[0];
  size_t axis = call.axis("axis", x.rank());
  Lines lines(x.shape(), axis);
  std::vector<long> indices = inputs[1].integers(), sources;
  for (long& index : indices) index = index_in(call, index, lines.extent);
  for (long outer = 0; outer < lines.outers; ++outer) {
    for (long index : indices) {
      for (long inner = 0; inner < lines.inners; ++inner) {
        sources.push_back(lines.at(outer, index, inner));
      }
    }
  }
  return {picked(x, shape_of_gather(x.shape(), inputs[1].shape(), axis), sources)};
}

}  // namespace

Op gather() {
  return {.name = "gather",
          .summary = "slices along one dimension, chosen by indices",
          .examples = {"gather(f32[5x3], i64[2])", "gather(i16[2x4], i32[3x2], axis=-1)"},
          .graph = {.least = 2,
                    .most = 2,
                    .settings = {{"axis", 0L, "the dimension that the indices index"}},
                    .infer = types_of_gather,
                    .nest = nest_of_gather,
                    .run = run_gather}};
}

}  // namespace lathe::ops
