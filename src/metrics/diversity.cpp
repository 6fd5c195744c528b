// diversity.cpp: how many different things the channels of a layer say.
//
//   of a layer       log((sum of v)^2 / (sum of v^2)),  v the eigenvalues of the covariance of its
//                    channels over all images and positions: of k channels that vary alike and
//                    independently log k, however often each is repeated
//   of a network     the mean over its layers
//
// Layers are looked at behind their batch normalisations, where a network has any, else behind its
// convolutions. Fisher Potential does not see channels that repeat others: each still moves the
// loss. This does.
#include <cmath>

#include "base/error.h"
#include "metrics/metric_weights.h"

namespace lathe::metrics {
namespace {

/// A layer with the places of what the probe sums up of it.
struct HookedLayer {
  std::string name;
  size_t sums, products;  ///< of each channel, of each pair of channels
  double count;           ///< of images times positions
};

HookedLayer want_layer(Probe& probe, const std::string& name, ValueId value) {
  GraphBuilder& g = probe.graph();
  Shape shape = g.shape(value), axes{0};
  for (size_t i = 2; i < shape.size(); ++i) axes.push_back(static_cast<long>(i));
  std::string behind = std::string("uvwxyz").substr(0, shape.size() - 2);
  ValueId sums = g.call("reduce_sum", {value}, {{"axes", axes}, {"keep", 0L}}, name + ".sums");
  ValueId products =
      g.call("einsum", {value, value}, {{"equation", "na" + behind + ",nb" + behind + "->ab"}},
             name + ".products");
  return {name, probe.want(sums), probe.want(products),
          static_cast<double>(count_of(shape) / shape[1])};
}

/// Returns the layer's score: the squared trace of the covariance beside the sum of its squares,
/// which are those of its eigenvalues.
double diversity_of(const Probe& probe, const HookedLayer& layer) {
  std::vector<double> sums = probe.result(layer.sums).reals();
  std::vector<double> products = probe.result(layer.products).reals();
  double trace = 0, squares = 0;
  for (size_t a = 0; a < sums.size(); ++a) {
    for (size_t b = 0; b < sums.size(); ++b) {
      double covariance = products[a * sums.size() + b] - sums[a] * sums[b] / layer.count;
      squares += covariance * covariance;
      if (a == b) trace += covariance;
    }
  }
  return squares > 0 ? std::log(trace * trace / squares) : 0;
}

Finish attach_diversity(Evaluation& evaluation) {
  Probe& probe = evaluation.probe();
  std::vector<HookedLayer> layers;
  for (const char* op : {"batch_norm", "conv"}) {
    for (const Node& node : evaluation.network().nodes) {
      if (node.op != op) continue;
      layers.push_back(want_layer(probe, node.name, node.outputs[0]));
    }
    if (!layers.empty()) break;
  }
  if (layers.empty()) {
    fail("diversity looks at convolutions; '{}' has none", evaluation.network().name);
  }
  return [&probe, layers] {
    Score score;
    for (const HookedLayer& layer : layers) {
      score.layers.push_back({layer.name, diversity_of(probe, layer)});
      score.total += score.layers.back().score / static_cast<double>(layers.size());
    }
    return score;
  };
}

}  // namespace

Metric diversity() {
  // It is a logarithm already. Of all that a recipe makes of a layer, the network sees the last.
  return {"diversity",
          "how many different things the channels of a layer say",
          attach_diversity,
          {.use = Contribution::Use::usual,
           .forms = {{Form::difference, Direction::promises}, {Form::moved, Direction::warns}},
           .whole = Contribution::Whole::mean,
           .first_order = FirstOrderScore{FirstOrderScore::Parts::last, 0}}};
}

}  // namespace lathe::metrics
