// connected.cpp: do the channels of a stage still reach each other? One layer that shuffles is
// enough for that, so that a rule looks at how soon they do (neighbours.cpp) unless it is asked for
// this.
#include "metrics/metric_mixing.h"

namespace lathe::metrics {

Metric connected() {
  return metric_of_mixing<&Mixing::connected>(
      "connected", "share of channels of a stage that reach each other",
      {Form::log_ratio, Direction::promises}, Contribution::Use::asked);
}

}  // namespace lathe::metrics
