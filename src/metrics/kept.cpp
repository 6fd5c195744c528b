// kept.cpp: which share of what the layers of a trained network computed they can still compute
// after steps changed them (capacity/kept.h). One network alone does not tell that.
#include "base/error.h"
#include "metrics/metric_probe.h"

namespace lathe::metrics {
namespace {

Finish refuse_kept(Evaluation&) {
  fail("'kept' compares a changed network with its trained original: 'lathe fit' does that");
}

}  // namespace

Metric kept() {
  return {"kept",
          "share of what layers of the trained original compute",
          refuse_kept,
          {.use = Contribution::Use::trained,
           .forms = {{Form::layers_distance, Direction::warns},
                     {Form::worst_distance, Direction::warns},
                     {Form::difference, Direction::promises}},
           .whole = Contribution::Whole::sum,
           .first_order = FirstOrderScore{}}};
}

}  // namespace lathe::metrics
