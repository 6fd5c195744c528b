// neighbours.cpp: do two layers that follow each other connect their channels?
#include "metrics/metric_mixing.h"

namespace lathe::metrics {

Metric neighbours() {
  return metric_of_mixing<&Mixing::neighbours>("neighbours",
                                               "share of channels that two layers in a row connect",
                                               {Form::log_ratio, Direction::promises});
}

}  // namespace lathe::metrics
