// across.cpp: do the channels of a network reach each other, from its first layers to its last?
#include "metrics/metric_mixing.h"

namespace lathe::metrics {

Metric across() {
  return metric_of_mixing<&Mixing::across>(
      "across", "share of channels that reach each other across the network",
      {Form::log_ratio, Direction::promises});
}

}  // namespace lathe::metrics
