// macs.cpp: how many products a network adds up for one image. Any other score is to be seen beside
// it.
#include "metrics/metric_probe.h"
#include "metrics/metric_size.h"

namespace lathe::metrics {
namespace {

Finish attach_macs(Evaluation& evaluation) {
  auto samples = static_cast<double>(evaluation.batch().images.shape()[0]);
  return [&network = evaluation.network(), samples] {
    return summed_over_layers(network, [&](const Layer& layer) {
      return static_cast<double>(layer.cost.macs) / samples;
    });
  };
}

}  // namespace

Metric macs() {
  return {"macs", "multiplications with addition for one image", attach_macs,
          contribution_of_size(Contribution::Use::usual)};
}

}  // namespace lathe::metrics
