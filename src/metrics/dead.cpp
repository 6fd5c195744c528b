// dead.cpp: which channels are computed and never used (program/mixing.h)? The accesses say it:
// nothing is drawn or run.
#include "metrics/metric_probe.h"
#include "program/mixing.h"

namespace lathe::metrics {
namespace {

double dead_of(const Mixing& mixing) { return mixing.dead; }

Finish attach_dead(Evaluation& evaluation) {
  return [&network = evaluation.network()] { return Score{dead_of(mixing_of(network))}; };
}

}  // namespace

Metric dead() {
  return {"dead",
          "share of channels that nothing uses",
          attach_dead,
          {.use = Contribution::Use::usual,
           .forms = {{Form::difference, Direction::warns}},
           .of_mixing = dead_of}};
}

}  // namespace lathe::metrics
