// synflow.cpp: SynFlow (Tanaka et al., 2020): how much flows through each weight, whatever the
// data.
//
//   the sum over all weights w of convolutions and fully connected layers of |w * dR/dw|
//
// R is the sum of the outputs for an image of ones, of the network with the absolute values of its
// weights and without batch normalisations. It grows with every layer, so it is computed in f64 and
// its logarithm is the score.
#include "metrics/metric_weights.h"

namespace lathe::metrics {
namespace {

Array ones(const Shape& shape) {
  return Array::of_reals(Element::f32, shape,
                         std::vector<double>(static_cast<size_t>(count_of(shape)), 1));
}

Finish attach_synflow(Evaluation& evaluation) {
  // All samples would be the same.
  Graph network = with_samples(evaluation.network(), 1);
  auto probe = std::make_shared<Probe>(network,
                                       ProbeKind{.norm = ProbeKind::Norm::none,
                                                 .weights = ProbeKind::Weights::absolute,
                                                 .loss = ProbeKind::Loss::outputs,
                                                 .element = Element::f64},
                                       evaluation.options().hook);
  const Shape& shape = network.values[network.inputs[0]].type.shape;
  Batch batch{ones(shape), {}};
  for (size_t i = 1; i < network.inputs.size(); ++i) {
    batch.others.push_back(ones(network.values[network.inputs[i]].type.shape));
  }
  probe->feed(std::move(batch));
  auto samples = static_cast<double>(shape[0]);
  return [&evaluation, probe, samples, wanted = want_gradients(*probe)] {
    probe->run(evaluation.runners());
    Score score =
        score_of(*probe, wanted, [&](std::span<const double> w, std::span<const double> g) {
          return salience(w, g) / samples;
        });
    score.total = logarithm(score.total);
    return score;
  };
}

}  // namespace

Metric synflow() {
  // It is a logarithm already, and about the whole network.
  return {"synflow",
          "SynFlow: what flows through each weight, as a logarithm",
          attach_synflow,
          {.forms = {{Form::difference, Direction::promises}, {Form::moved, Direction::warns}}}};
}

}  // namespace lathe::metrics
