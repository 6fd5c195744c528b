// grasp.cpp: GraSP (Wang et al., 2020): how much less the gradient would flow without each weight.
//
//   the sum over all weights w of convolutions and fully connected layers of -w * (H g)
//
// g is the gradient of L, the mean of the samples' losses, by these weights, and H the matrix of
// its second derivatives. Their product is the gradient of g * g, where the second g is held
// constant: H itself, which is as large as the square of the weights, is never computed.
#include "autodiff/gradient.h"
#include "metrics/metric_weights.h"

namespace lathe::metrics {
namespace {

std::vector<WeightResult> want_products(Probe& probe) {
  std::vector<Counted> of;
  std::vector<ValueId> by;
  std::vector<Probe::Weight> weights = probe.weights();
  for (const Probe::Weight& weight : weights) {
    by.push_back(weight.value);
    if (weight.gradient != no_value) of.push_back({weight.gradient, weight.gradient});
  }
  Gradients second = with_gradients(probe.graph().unfinished(), of, by);
  probe.graph() = GraphBuilder(std::move(second.graph));
  std::vector<WeightResult> result;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (second.by[i] == no_value) continue;
    const Value& value = probe.graph().value(weights[i].value);
    result.push_back({weights[i].layer, value.data.value(), probe.want(second.by[i])});
  }
  return result;
}

Finish attach_grasp(Evaluation& evaluation) {
  Probe& probe = evaluation.probe();
  auto samples = static_cast<double>(evaluation.batch().images.shape()[0]);
  return [&probe, samples, wanted = want_products(probe)] {
    return score_of(probe, wanted, [&](std::span<const double> w, std::span<const double> hg) {
      double sum = 0;
      for (size_t i = 0; i < w.size(); ++i) sum -= w[i] * hg[i];
      return sum / (samples * samples);  // both H and g are of the sum of all losses
    });
  };
}

}  // namespace

Metric grasp() {
  // A layer alone does not tell how the gradient of all others changes with it.
  return {"grasp",
          "GraSP: what the gradient owes to each weight",
          attach_grasp,
          {.forms = {{Form::difference, Direction::promises}, {Form::moved, Direction::warns}},
           .whole = Contribution::Whole::sum}};
}

}  // namespace lathe::metrics
