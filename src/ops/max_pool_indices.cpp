// max_pool_indices.cpp: where the largest value under a window is, as an index into all elements of
// the input. Data decide it, so it runs on arrays. The value itself is max_pool.
#include "ops/op_data.h"
#include "ops/op_pool.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_max_pool_indices(const Call& call) {
  call.flag("columns");
  return {{Element::i64, pool_shape(pool(call))}};
}

/// Returns how far apart neighbours of each spatial dimension are, counted by rows or by columns.
Shape spatial_strides(const Window& w, bool by_columns) {
  Shape strides(w.size(), 1);
  long step = 1;
  for (size_t k = 0; k < w.size(); ++k) {
    size_t i = by_columns ? k : w.size() - 1 - k;
    strides[i] = step;
    step *= w[i].inputs;
  }
  return strides;
}

/// Returns the place of the largest value under the window at "output"; "values" are one channel's.
Shape place_of_largest(const double* values, const Window& w, const Shape& output) {
  Shape strides = spatial_strides(w, false), kernel = elements(w), k(w.size(), 0), best, place;
  double largest = 0;
  for (long i = 0; i < count_of(kernel); ++i, advance(k, kernel)) {
    place.clear();
    long at = 0;
    bool is_inside = true;
    for (size_t d = 0; d < w.size(); ++d) {
      place.push_back(w[d].stride * output[d] + w[d].dilation * k[d] - w[d].pad.before);
      is_inside = is_inside && place[d] >= 0 && place[d] < w[d].inputs;
      at += place[d] * strides[d];
    }
    if (!is_inside || (!best.empty() && !(values[at] > largest))) continue;
    best = place;
    largest = values[at];
  }
  return best;
}

std::vector<Array> run_max_pool_indices(const Call& call, const std::vector<Array>& inputs) {
  Pool p = pool(call);
  Shape strides = spatial_strides(p.window, call.flag("columns")), shape = outputs(p.window);
  long inner = 1;
  for (const Slide& s : p.window) inner *= s.inputs;
  std::vector<double> values = inputs[0].reals();
  std::vector<long> indices;
  for (long channel = 0; channel < p.n * p.c; ++channel) {
    Shape output(shape.size(), 0);
    for (long i = 0; i < count_of(shape); ++i, advance(output, shape)) {
      Shape place = place_of_largest(values.data() + channel * inner, p.window, output);
      long index = channel * inner;
      for (size_t d = 0; d < place.size(); ++d) index += place[d] * strides[d];
      indices.push_back(index);
    }
  }
  return {array_of(Element::i64, types_of_max_pool_indices(call).front().shape, indices)};
}

}  // namespace

Op max_pool_indices() {
  Signature signature = pool_signature({{"columns", 0L, "1: columns are counted first"}}, nullptr);
  signature.infer = types_of_max_pool_indices;
  signature.run = run_max_pool_indices;
  return {.name = "max_pool_indices",
          .summary = "index of the largest value under a sliding window",
          .examples = {"max_pool_indices(f32[1x2x4x4], kernel=[2, 2], strides=[2, 2])",
                       "max_pool_indices(f32[1x1x5], kernel=[3], pads=[1, 1], columns=1)"},
          .graph = signature};
}

}  // namespace lathe::ops
