// snip.cpp: SNIP (Lee et al., 2019): how much the loss would change without each weight.
//
//   the sum over all weights w of convolutions and fully connected layers of |w * dL/dw|
//
// L is the mean of the samples' losses.
#include "metrics/metric_weights.h"

namespace lathe::metrics {
namespace {

Finish attach_snip(Evaluation& evaluation) {
  Probe& probe = evaluation.probe();
  auto samples = static_cast<double>(evaluation.batch().images.shape()[0]);
  return [&probe, samples, wanted = want_gradients(probe)] {
    return score_of(probe, wanted, [&](std::span<const double> w, std::span<const double> g) {
      return salience(w, g) / samples;
    });
  };
}

}  // namespace

Metric snip() {
  // What is summed up is compared by its ratio. It grows with the gradient, not with its square.
  return {"snip",
          "SNIP: what the loss owes to each weight",
          attach_snip,
          {.forms = {{Form::log_ratio, Direction::promises}, {Form::distance, Direction::warns}},
           .whole = Contribution::Whole::sum,
           .first_order = FirstOrderScore{FirstOrderScore::Parts::sum, 0.5}}};
}

}  // namespace lathe::metrics
