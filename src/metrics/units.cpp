// units.cpp: how many different values the layers of a network compute for one image. Groups keep
// them, fewer channels or positions do not. Values that are copies of others do not count.
#include "metrics/metric_probe.h"
#include "metrics/metric_size.h"
#include "program/layers.h"

namespace lathe::metrics {
namespace {

Finish attach_units(Evaluation& evaluation) {
  return [&network = evaluation.network()] {
    Score score;
    for (const Layer& layer : layers_of(network)) {
      if (layer.cost.macs == 0) continue;
      score.layers.push_back({layer.name, static_cast<double>(count_of(layer.inner_output))});
      score.total += score.layers.back().score;
    }
    return score;
  };
}

}  // namespace

Metric units() {
  return {"units", "different values that layers compute for one image", attach_units,
          contribution_of_size(Contribution::Use::usual)};
}

}  // namespace lathe::metrics
