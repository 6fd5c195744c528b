// gather_elements.cpp: one element for each index, from the line that the index is in.
//
//   O[i, j] = X[i, indices[i, j]]      for axis 1
#include "ops/op_check.h"
#include "ops/op_data.h"
#include "ops/op_dims.h"
#include "ops/op_scatter.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_gather_elements(const Call& call) {
  check_integral(call, 1);
  check_indices_fit(call, call.axis("axis", call.shape(0).size()));
  return {{call.element(0), call.shape(1)}};
}

Nest nest_of_gather_elements(isl::ctx ctx, const Call& call) {
  size_t axis = call.axis("axis", call.shape(0).size());
  NestBuilder b(ctx, "gather_elements");
  size_t X = declare(b, call, 0, "X"), I = declare(b, call, 1, "I");
  size_t O = declare_output(b, types_of_gather_elements(call).front());
  StatementBuilder::Extents loops = loops_over(call.shape(1));
  auto& s = b.statement("gather", loops);
  std::vector<Index> to = at(s, loops), from = to;
  from[axis] = s.at(0);
  Expr element = s.read(X, from);
  s.assign(O, to, pick(std::move(element), axis, s.read(I, to)));
  return b.build();
}

std::vector<Array> run_gather_elements(const Call& call, const std::vector<Array>& inputs) {
  std::vector<long> sources =
      elements_along(call, inputs[0].shape(), inputs[1], call.axis("axis", inputs[0].rank()));
  return {picked(inputs[0], inputs[1].shape(), sources)};
}

}  // namespace

Op gather_elements() {
  return {.name = "gather_elements",
          .summary = "elements along one dimension, each chosen by an index",
          .examples = {"gather_elements(f32[3x4], i64[2x4])",
                       "gather_elements(i32[3x4], i32[3x7], axis=-1)"},
          .graph = {.least = 2,
                    .most = 2,
                    .settings = {{"axis", 0L, "the dimension that the indices index"}},
                    .infer = types_of_gather_elements,
                    .nest = nest_of_gather_elements,
                    .run = run_gather_elements}};
}

}  // namespace lathe::ops
