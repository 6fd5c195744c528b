// compress.cpp: the slices along a dimension, or the elements, for which a condition holds.
#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_compress(const Call& call) {
  const Shape &shape = call.shape(0), &condition = call.shape(1);
  long most = call.flag("has_axis") ? shape[call.axis("axis", shape.size())] : count_of(shape);
  if (call.element(1) != Element::boolean || condition.size() != 1 || condition[0] > most) {
    call.refuse("the condition {} must be at most {} truth values", print_type(call.type(1)), most);
  }
  return {{call.element(0), {}, true}};
}

std::vector<Array> run_compress(const Call& call, const std::vector<Array>& inputs) {
  bool along = call.flag("has_axis");
  const Array& x = inputs[0];
  Shape shape = along ? x.shape() : Shape{x.count()};
  size_t axis = along ? call.axis("axis", shape.size()) : 0;
  Lines lines(shape, axis);
  std::vector<long> condition = inputs[1].integers(), kept, sources;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) kept.push_back(static_cast<long>(i));
  }
  for (long outer = 0; outer < lines.outers; ++outer) {
    for (long i : kept) {
      for (long inner = 0; inner < lines.inners; ++inner) {
        sources.push_back(lines.at(outer, i, inner));
      }
    }
  }
  shape[axis] = static_cast<long>(kept.size());
  return {picked(x, shape, sources)};
}

}  // namespace

Op compress() {
  return {.name = "compress",
          .summary = "the slices, or elements, for which a condition holds",
          .examples = {"compress(f32[2x3], bool[5])",
                       "compress(f32[2x3], bool[3], has_axis=1, "
                       "axis=-1)"},
          .graph = {.least = 2,
                    .most = 2,
                    .settings = {{"has_axis", 0L, "0: of the elements, row-major"},
                                 {"axis", 0L, "the dimension of the slices"}},
                    .infer = types_of_compress,
                    .run = run_compress}};
}

}  // namespace lathe::ops
