// params.cpp: how many weights a network has. Any other score is to be seen beside it.
#include "metrics/metric_probe.h"
#include "metrics/metric_size.h"

namespace lathe::metrics {
namespace {

Finish attach_params(Evaluation& evaluation) {
  return [&network = evaluation.network()] {
    Score score;
    std::vector<bool> seen(network.values.size(), false);
    for (const Node& node : network.nodes) {
      double count = 0;
      for (ValueId id : node.inputs) {
        if (id == no_value || seen[id] || network.values[id].kind != Value::Kind::weight) continue;
        seen[id] = true;  // a weight counts once, where it is read first
        count += static_cast<double>(count_of(network.values[id].type.shape));
      }
      if (count == 0) continue;
      score.layers.push_back({node.name, count});
      score.total += count;
    }
    return score;
  };
}

}  // namespace

Metric params() {
  return {"params", "number of weights", attach_params,
          contribution_of_size(Contribution::Use::asked)};
}

}  // namespace lathe::metrics
