// untuned.cpp: how accurate a changed network is with weights that were fitted to its trained
// original, before any training (capacity/fit.h). One network alone does not tell that.
#include "base/error.h"
#include "metrics/metric_probe.h"

namespace lathe::metrics {
namespace {

Finish refuse_untuned(Evaluation&) {
  fail("'untuned' compares a changed network with its trained original: 'lathe fit' does that");
}

}  // namespace

Metric untuned() {
  return {"untuned",
          "accuracy with fitted weights, before tuning, in percent",
          refuse_untuned,
          {.use = Contribution::Use::trained, .forms = {{Form::difference, Direction::promises}}}};
}

}  // namespace lathe::metrics
