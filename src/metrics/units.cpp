// units.cpp: how many different values the layers of a network compute for one image. Groups keep
// them, fewer channels or positions do not. Values that are copies of others do not count.
#include "metrics/metric_probe.h"
#include "metrics/metric_size.h"

namespace lathe::metrics {
namespace {

Finish attach_units(Evaluation& evaluation) {
  return [&network = evaluation.network()] {
    return summed_over_layers(network, [](const Layer& l) { return count_of(l.inner_output); });
  };
}

}  // namespace

Metric units() {
  return {"units", "different values that layers compute for one image", attach_units,
          contribution_of_size(Contribution::Use::usual)};
}

}  // namespace lathe::metrics
