// inputs.cpp: how many values the layers of a network read for one image. Groups read all that they
// did; a layer that reads some of the channels or positions does not.
#include "metrics/metric_probe.h"
#include "metrics/metric_size.h"

namespace lathe::metrics {
namespace {

Finish attach_inputs(Evaluation& evaluation) {
  return [&network = evaluation.network()] {
    return summed_over_layers(network, [&](const Layer& layer) {
      const Shape& read = network.values[network.nodes[layer.node].inputs[0]].type.shape;
      return count_of(read) / read[0];
    });
  };
}

}  // namespace

Metric inputs() {
  Contribution contributes = contribution_of_size(Contribution::Use::usual);
  // Parts of a layer read the same values, which then count twice: more of them is no promise.
  contributes.forms = {{Form::times_less, Direction::warns}};
  return {"inputs", "values that layers read for one image", attach_inputs, contributes};
}

}  // namespace lathe::metrics
