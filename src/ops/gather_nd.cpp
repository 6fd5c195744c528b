// gather_nd.cpp: elements or slices, each chosen by a tuple of indices.
//
//   O[i, c] = X[indices[i, 0], indices[i, 1], c]
#include "ops/op_check.h"
#include "ops/op_data.h"
#include "ops/op_dims.h"
#include "ops/op_scatter.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

Shape shape_of_gather_nd(const Call& call, const Shape& x, const Shape& indices) {
  long batch = call.integer("batch_dims");
  if (indices.empty()) call.refuse("the indices are a scalar, not tuples");
  long tuple = indices.back();
  auto rank = static_cast<long>(x.size());
  bool fits = batch >= 0 && batch < static_cast<long>(indices.size()) && tuple <= rank - batch;
  for (long i = 0; fits && i < batch; ++i) {
    fits = x[static_cast<size_t>(i)] == indices[static_cast<size_t>(i)];
  }
  if (!fits) {
    call.refuse("indices {} do not fit {} with batch_dims={}", print_shape(indices), print_shape(x),
                batch);
  }
  return joined(Shape(indices.begin(), indices.end() - 1),
                Shape(x.begin() + batch + tuple, x.end()));
}

std::vector<Type> types_of_gather_nd(const Call& call) {
  check_integral(call, 1);
  return {{call.element(0), shape_of_gather_nd(call, call.shape(0), call.shape(1))}};
}

Nest nest_of_gather_nd(isl::ctx ctx, const Call& call) {
  Type output = types_of_gather_nd(call).front();
  auto batch = static_cast<size_t>(call.integer("batch_dims"));
  size_t tuples = call.shape(1).size() - 1, picked = static_cast<size_t>(call.shape(1).back());
  NestBuilder b(ctx, "gather_nd");
  size_t X = declare(b, call, 0, "X"), I = declare(b, call, 1, "I"), O = declare_output(b, output);
  StatementBuilder::Extents loops = loops_over(output.shape);
  auto& s = b.statement("gather", loops);
  std::vector<Index> to = at(s, loops), from(to.begin(), to.begin() + static_cast<long>(batch));
  from.insert(from.end(), picked, s.at(0));
  from.insert(from.end(), to.begin() + static_cast<long>(tuples), to.end());
  Expr element = s.read(X, from);
  for (size_t k = 0; k < picked; ++k) {
    std::vector<Index> index(to.begin(), to.begin() + static_cast<long>(tuples));
    index.push_back(s.at(static_cast<long>(k)));
    element = pick(std::move(element), batch + k, s.read(I, index));
  }
  s.assign(O, to, std::move(element));
  return b.build();
}

std::vector<Array> run_gather_nd(const Call& call, const std::vector<Array>& inputs) {
  const Shape& x = inputs[0].shape();
  auto batch = static_cast<size_t>(call.integer("batch_dims"));
  std::vector<long> sources = slices(call, x, inputs[1], batch);
  return {picked(inputs[0], shape_of_gather_nd(call, x, inputs[1].shape()), sources)};
}

}  // namespace

Op gather_nd() {
  return {.name = "gather_nd",
          .summary = "elements or slices, each chosen by a tuple of indices",
          .examples = {"gather_nd(f32[3x4x2], i64[5x2])",
                       "gather_nd(i32[2x3x4], i64[2x1], batch_dims=1)"},
          .graph = {.least = 2,
                    .most = 2,
                    .settings = {{"batch_dims", 0L, "dimensions in front that both share"}},
                    .infer = types_of_gather_nd,
                    .nest = nest_of_gather_nd,
                    .run = run_gather_nd}};
}

}  // namespace lathe::ops
