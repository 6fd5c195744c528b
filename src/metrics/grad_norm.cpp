// grad_norm.cpp: how far a first step of training would go.
//
//   the sum over convolutions and fully connected layers of the length of dL/dW
//
// L is the mean of the samples' losses (Abdelfattah et al., 2021).
#include <cmath>

#include "metrics/metric_weights.h"

namespace lathe::metrics {
namespace {

double length(std::span<const double> numbers) {
  double sum = 0;
  for (double x : numbers) sum += x * x;
  return std::sqrt(sum);
}

Finish attach_grad_norm(Evaluation& evaluation) {
  Probe& probe = evaluation.probe();
  auto samples = static_cast<double>(evaluation.batch().images.shape()[0]);
  return [&probe, samples, wanted = want_gradients(probe)] {
    return score_of(probe, wanted, [&](std::span<const double>, std::span<const double> g) {
      return length(g) / samples;
    });
  };
}

}  // namespace

Metric grad_norm() {
  // What is summed up is compared by its ratio. It grows with the gradient, not with its square.
  return {"grad_norm",
          "lengths of the layers' gradients",
          attach_grad_norm,
          {.forms = {{Form::log_ratio, Direction::promises}, {Form::distance, Direction::warns}},
           .whole = Contribution::Whole::sum,
           .first_order = FirstOrderScore{FirstOrderScore::Parts::sum, 0.5}}};
}

}  // namespace lathe::metrics
