// det.cpp: the determinants of square matrices, by elimination. Which rows it exchanges depends on
// data, so it runs on arrays.
#include <cmath>

#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_det(const Call& call) {
  check_float(call, 0);
  const Shape& shape = call.shape(0);
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2]) {
    call.refuse("{} are no square matrices", print_shape(shape));
  }
  return {{call.element(0), Shape(shape.begin(), shape.end() - 2)}};
}

/// Returns the determinant of the n by n matrix at "a", which it overwrites.
double determinant(double* a, long n) {
  double result = 1;
  for (long column = 0; column < n; ++column) {
    long pivot = column;
    for (long row = column + 1; row < n; ++row) {
      if (std::abs(a[row * n + column]) > std::abs(a[pivot * n + column])) pivot = row;
    }
    if (a[pivot * n + column] == 0) return 0;
    if (pivot != column) {
      std::swap_ranges(a + pivot * n, a + pivot * n + n, a + column * n);
      result = -result;
    }
    result *= a[column * n + column];
    for (long row = column + 1; row < n; ++row) {
      double factor = a[row * n + column] / a[column * n + column];
      for (long k = column; k < n; ++k) a[row * n + k] -= factor * a[column * n + k];
    }
  }
  return result;
}

std::vector<Array> run_det(const Call&, const std::vector<Array>& inputs) {
  const Shape& shape = inputs[0].shape();
  long n = shape.back();
  Shape batch(shape.begin(), shape.end() - 2);
  std::vector<double> values = inputs[0].reals(), result;
  for (long i = 0; i < count_of(batch); ++i) {
    result.push_back(determinant(values.data() + i * n * n, n));
  }
  return {array_of(inputs[0].element(), batch, result)};
}

}  // namespace

Op det() {
  return {.name = "det",
          .summary = "determinants of square matrices",
          .examples = {"det(f32[3x3])", "det(f32[2x4x2x2])"},
          .graph = {.infer = types_of_det, .run = run_det}};
}

}  // namespace lathe::ops
