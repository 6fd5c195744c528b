// The common part of metrics that are told by how channels mix (program/mixing.h). Accesses say
// that: nothing is drawn or run.
#pragma once

#include "metrics/metric_probe.h"
#include "program/mixing.h"

namespace lathe {

/// Returns a metric whose score is one of the shares that mixing has.
template <double Mixing::*share>
Metric metric_of_mixing(std::string name, std::string summary, MetricForm form,
                        Contribution::Use use = Contribution::Use::usual) {
  Metric metric{std::move(name), std::move(summary), nullptr, {}};
  metric.attach = [](Evaluation& evaluation) -> Finish {
    return [&network = evaluation.network()] { return Score{mixing_of(network).*share}; };
  };
  metric.contributes.use = use;
  metric.contributes.forms = {form};
  metric.contributes.of_mixing = share;
  return metric;
}

}  // namespace lathe
