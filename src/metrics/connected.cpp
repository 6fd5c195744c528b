// connected.cpp: do the channels of a network still mix (program/mixing.h)? The accesses say it:
// nothing is drawn or run.
#include "metrics/metric_probe.h"
#include "program/mixing.h"

namespace lathe::metrics {
namespace {

Finish attach_connected(Evaluation& evaluation) {
  return [&network = evaluation.network()] { return Score{mixing_of(network).connected}; };
}

}  // namespace

Metric connected() {
  return {"connected",
          "share of channels of a stage that reach each other",
          attach_connected,
          {.use = Contribution::Use::asked, .forms = {{Form::log_ratio, Direction::promises}}}};
}

}  // namespace lathe::metrics
