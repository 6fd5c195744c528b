// fisher.cpp: Fisher Potential: how much the loss would change if a channel were not there.
//
//   of channel c      1/(2N) * sum over samples n of (sum over i, j of A[n, c, i, j] * g[n, c, i,
//   j])^2 of a layer        the sum over its channels;  of a network, over its layers
//
// A is an activation, g the gradient of the sample's own loss by it: the score does not depend on
// how many samples there are.
#include "base/error.h"
#include "metrics/metric_probe.h"

namespace lathe::metrics {
namespace {

/// Returns the sums over everything behind the channels: [samples, channels].
ValueId products(Probe& probe, const Probe::Activation& activation) {
  GraphBuilder& g = probe.graph();
  ValueId product =
      g.call("mul", {activation.value, activation.gradient}, {}, activation.layer + ".fisher");
  Shape axes;
  for (size_t i = 2; i < g.shape(product).size(); ++i) axes.push_back(static_cast<long>(i));
  if (axes.empty()) return product;
  return g.call("reduce_sum", {product}, {{"axes", axes}, {"keep", 0L}},
                activation.layer + ".fisher");
}

LayerScore fisher_of(const std::string& layer, const Array& products) {
  auto samples = static_cast<size_t>(products.shape()[0]);
  auto channels = static_cast<size_t>(products.shape()[1]);
  std::vector<double> values = products.reals();
  LayerScore result{layer, 0, std::vector<double>(channels, 0)};
  for (size_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (size_t n = 0; n < samples; ++n) sum += values[n * channels + c] * values[n * channels + c];
    result.channels[c] = sum / (2 * static_cast<double>(samples));
    result.score += result.channels[c];
  }
  return result;
}

Finish attach_fisher(Evaluation& evaluation) {
  Probe& probe = evaluation.probe();
  // Where nothing reads the images, as in a cell without any operation, 0 is the right score.
  bool reads_images = !consumers(evaluation.network())[evaluation.network().inputs[0]].empty();
  if (probe.activations().empty() && reads_images) {
    fail("fisher looks at activations behind each {}, and '{}' has none; try another --hook",
         name_of(evaluation.options().hook), evaluation.network().name);
  }
  std::vector<std::pair<std::string, size_t>> wanted;
  for (const Probe::Activation& activation : probe.activations()) {
    if (activation.gradient == no_value) continue;
    wanted.emplace_back(activation.layer, probe.want(products(probe, activation)));
  }
  return [&probe, wanted] {
    Score score;
    for (const auto& [layer, place] : wanted) {
      score.layers.push_back(fisher_of(layer, probe.result(place)));
      score.total += score.layers.back().score;
    }
    return score;
  };
}

}  // namespace

Metric fisher() {
  // Being far from the original, up or down, is what warns. A product with the gradient is squared:
  // the score of a layer grows with the squares of what it gets.
  return {"fisher",
          "Fisher Potential: what the loss owes to each channel",
          attach_fisher,
          {.use = Contribution::Use::bands,
           .forms = {{Form::distance, Direction::warns},
                     {Form::log_distance, Direction::warns},
                     {Form::layers_distance, Direction::warns},
                     {Form::worst_distance, Direction::warns}},
           .whole = Contribution::Whole::sum,
           .first_order = FirstOrderScore{FirstOrderScore::Parts::sum, 1}}};
}

}  // namespace lathe::metrics
