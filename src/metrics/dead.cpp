// dead.cpp: which channels are computed and never used (program/mixing.h)? The accesses say it:
// nothing is drawn or run.
#include "metrics/metric_probe.h"
#include "program/mixing.h"

namespace lathe::metrics {
namespace {

Finish attach_dead(Evaluation& evaluation) {
  return [&network = evaluation.network()] { return Score{mixing_of(network).dead}; };
}

}  // namespace

Metric dead() {
  return {"dead",
          "share of channels that nothing uses",
          attach_dead,
          {.use = Contribution::Use::asked, .forms = {{Form::difference, Direction::warns}}}};
}

}  // namespace lathe::metrics
