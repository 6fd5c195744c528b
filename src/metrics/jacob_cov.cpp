// jacob_cov.cpp: how differently the network treats different images (Mellor et al., 2020, as in
// Abdelfattah et al., 2021).
//
//   -sum over the eigenvalues v of (log(v + k) + 1 / (v + k)),    k = 1e-5
//
// of the correlations of the samples' gradients: of the sum of all outputs by the image. It is
// largest, minus the number of samples, where no two samples are alike.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/matrix.h"
#include "metrics/metric_weights.h"

namespace lathe::metrics {
namespace {

constexpr double least = 1e-5;  // k

/// Returns the rows, moved to the mean 0 and scaled to the length 1; all zeros where a row is the
/// same everywhere.
Matrix standardised(const Array& gradients) {
  auto samples = static_cast<size_t>(gradients.shape()[0]);
  size_t count = static_cast<size_t>(gradients.count()) / samples;
  std::vector<double> values = gradients.reals();
  Matrix rows(samples, count);
  for (size_t n = 0; n < samples; ++n) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < count; ++i) mean += values[n * count + i];
    mean /= static_cast<double>(count);
    for (size_t i = 0; i < count; ++i) square += std::pow(values[n * count + i] - mean, 2);
    if (square == 0) continue;
    for (size_t i = 0; i < count; ++i) {
      rows(n, i) = (values[n * count + i] - mean) / std::sqrt(square);
    }
  }
  return rows;
}

Matrix correlations(const Matrix& rows) {
  Matrix result(rows.rows(), rows.rows());
  for (size_t i = 0; i < rows.rows(); ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (size_t k = 0; k < rows.columns(); ++k) sum += rows(i, k) * rows(j, k);
      result(i, j) = result(j, i) = sum;
    }
  }
  // Samples without a gradient cannot be told apart.
  std::vector<size_t> same;
  for (size_t i = 0; i < rows.rows(); ++i) {
    if (result(i, i) == 0) same.push_back(i);
  }
  for (size_t i : same) {
    for (size_t j : same) result(i, j) = 1;
  }
  return result;
}

double jacob_cov_of(const Array& gradients) {
  Matrix matrix = correlations(standardised(gradients));
  for (size_t i = 0; i < matrix.rows(); ++i) matrix(i, i) += least;  // so each eigenvalue is v + k
  double score = 0;
  for (double v : symmetric_eigenvalues(matrix)) {
    double positive = std::max(v, least);  // what rounding left of it
    score -= std::log(positive) + 1 / positive;
  }
  return score;
}

Finish attach_jacob_cov(Evaluation& evaluation) {
  Probe& probe = evaluation.probe();
  if (!is_float(probe.graph().type(probe.images()).element)) {
    fail("jacob_cov looks at gradients by an input of real numbers, and '{}' reads whole ones",
         evaluation.network().name);
  }
  ValueId gradient = probe.gradients(probe.logits(), {probe.images()})[0];
  const Shape& shape = evaluation.batch().images.shape();
  if (gradient == no_value) {
    return [shape] { return Score{jacob_cov_of(Array(Element::f32, shape))}; };
  }
  return
      [&probe, place = probe.want(gradient)] { return Score{jacob_cov_of(probe.result(place))}; };
}

}  // namespace

Metric jacob_cov() {
  // It is about the whole network: layers alone tell nothing of it.
  return {"jacob_cov",
          "how little the gradients by different images correlate",
          attach_jacob_cov,
          {.use = Contribution::Use::asked,
           .forms = {{Form::difference, Direction::promises}, {Form::moved, Direction::warns}}}};
}

}  // namespace lathe::metrics
