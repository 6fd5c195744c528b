// zico.cpp: ZiCo (Li et al., 2023): how large gradients are beside how much they change from one
// batch to the next.
//
//   the sum over convolutions and fully connected layers of
//   log(sum over the weights w of  mean of |dL/dw| / deviation of dL/dw)
//
// over the batches. A weight whose gradient does not change is left out, as in the authors' code.
#include <cmath>

#include "base/error.h"
#include "metrics/metric_weights.h"

namespace lathe::metrics {
namespace {

/// Returns the sum for one layer, from its gradients in two batches.
double steadiness(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    double twice_deviation = std::abs(a[i] - b[i]);
    if (twice_deviation > 0) sum += (std::abs(a[i]) + std::abs(b[i])) / twice_deviation;
  }
  return sum;
}

Finish attach_zico(Evaluation& evaluation) {
  if (!evaluation.options().more) {
    fail("zico compares gradients of two batches of images, and there is one only");
  }
  Probe& first = evaluation.probe();
  // A probe of its own: what other metrics ask of the first need not be computed twice.
  auto second = std::make_shared<Probe>(evaluation.network(), evaluation.options().kind,
                                        evaluation.options().hook);
  second->feed(evaluation.options().more(1));
  return [&evaluation, &first, second, wanted = want_gradients(first),
          also = want_gradients(*second)] {
    second->run(evaluation.runners());
    Score score;
    for (size_t i = 0; i < wanted.size(); ++i) {
      double sum =
          steadiness(first.result(wanted[i].place).reals(), second->result(also[i].place).reals());
      score.layers.push_back({wanted[i].layer, sum == 0 ? 0 : std::log(sum)});
      score.total += score.layers.back().score;
    }
    return score;
  };
}

}  // namespace

Metric zico() {
  // Scores of layers are logarithms. It compares batches, and a layer alone reads one.
  return {"zico",
          "ZiCo: how steady gradients are between batches",
          attach_zico,
          {.forms = {{Form::difference, Direction::promises}, {Form::moved, Direction::warns}},
           .whole = Contribution::Whole::sum}};
}

}  // namespace lathe::metrics
