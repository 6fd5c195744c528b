// macs.cpp: how many products a network adds up for one image. Any other score is to be seen beside
// it.
#include "metrics/metric_program.h"
#include "program/layers.h"

namespace lathe::metrics {
namespace {

Finish prepare(Evaluation& evaluation) {
  auto samples = static_cast<double>(evaluation.batch().images.shape()[0]);
  return [&network = evaluation.network(), samples] {
    Score score;
    for (const Layer& layer : layers_of(network)) {
      if (layer.cost.macs == 0) continue;
      score.layers.push_back({layer.name, static_cast<double>(layer.cost.macs) / samples});
      score.total += score.layers.back().score;
    }
    return score;
  };
}

}  // namespace

Metric macs() {
  // Steps only ever make a network smaller: that it moved would say the same again. But a few large
  // layers can hide that all others became small.
  return {
      "macs",
      "multiplications with addition for one image",
      prepare,
      {.use = Contribution::Use::usual,
       .measures = Contribution::Measures::size,
       .forms = {{Form::log_ratio, Direction::promises}, {Form::layers_distance, Direction::warns}},
       .whole = Contribution::Whole::sum,
       .first_order = FirstOrderScore{}}};
}

}  // namespace lathe::metrics
