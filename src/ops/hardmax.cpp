// hardmax.cpp: 1 at the first of the largest elements along a dimension, 0 elsewhere.
#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

std::vector<Array> run_hardmax(const Call& call, const std::vector<Array>& inputs) {
  const Array& x = inputs[0];
  Lines lines(x.shape(), call.axis("axis", x.rank()));
  std::vector<double> values = x.reals(), result(values.size(), 0);
  lines.each([&](long outer, long inner) {
    auto best = static_cast<size_t>(lines.at(outer, 0, inner));
    for (long i = 1; i < lines.extent; ++i) {
      auto at = static_cast<size_t>(lines.at(outer, i, inner));
      if (values[at] > values[best]) best = at;
    }
    if (lines.extent > 0) result[best] = 1;
  });
  return {array_of(x.element(), x.shape(), result)};
}

}  // namespace

Op hardmax() {
  return {.name = "hardmax",
          .summary = "1 at the largest element along one dimension, 0 elsewhere",
          .examples = {"hardmax(f32[2x5])", "hardmax(f32[3x4x2], axis=1)"},
          .graph = {.settings = {{"axis", -1L, "the dimension"}},
                    .infer = float_along_axis,
                    .run = run_hardmax}};
}

}  // namespace lathe::ops
