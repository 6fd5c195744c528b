// Nests interpreted on normal data, which bounds of errors are stated for.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "support/compiled.h"
#include "support/random_case.h"

namespace lathe::test {

/// Draws a normal number.
inline double normal(Random& random) {
  constexpr long steps = 1L << 30;
  auto uniform = [&] {
    return static_cast<double>(random.between(1, steps)) / static_cast<double>(steps);
  };
  return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
}

/// Is an element of a tensor part of its padding?
inline bool is_padding(const Tensor& tensor, long offset) {
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    long at = offset % tensor.shape[i];
    offset /= tensor.shape[i];
    if (at < tensor.pad[i].before || at >= tensor.shape[i] - tensor.pad[i].after) return true;
  }
  return false;
}

/// Interprets a nest on normal data, as exactly as doubles are.
inline Reference reference_of_normal_data(const Nest& nest, Random& random) {
  Buffers<double> buffers = make_buffers<double>(nest);
  for (size_t t = 0; t < buffers.size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    if (tensor.role != Role::input && tensor.role != Role::weight) continue;
    for (size_t k = 0; k < buffers[t].size(); ++k) {
      if (is_padding(tensor, static_cast<long>(k))) continue;
      buffers[t][k] = static_cast<float>(normal(random));
    }
  }
  interpret(nest, buffers);
  Reference result;
  for (size_t t = 0; t < buffers.size(); ++t) result.reals[nest.tensors()[t].name] = buffers[t];
  return result;
}

/// Returns the root mean square of some values.
inline double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (double x : values) sum += x * x;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace lathe::test
