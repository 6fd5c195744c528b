// connected.cpp: do the channels of a network still mix (program/mixing.h)? The accesses say it:
// nothing is drawn or run.
#include "metrics/metric_probe.h"
#include "program/mixing.h"

namespace lathe::metrics {
namespace {

double connected_of(const Mixing& mixing) { return mixing.connected; }

Finish attach_connected(Evaluation& evaluation) {
  return [&network = evaluation.network()] { return Score{connected_of(mixing_of(network))}; };
}

}  // namespace

Metric connected() {
  return {"connected",
          "share of channels of a stage that reach each other",
          attach_connected,
          {.use = Contribution::Use::usual,
           .forms = {{Form::log_ratio, Direction::promises}},
           .of_mixing = connected_of}};
}

}  // namespace lathe::metrics
