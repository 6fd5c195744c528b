// connected.cpp: do the channels of a network still mix?
#include "metrics/metric_mixing.h"

namespace lathe::metrics {

Metric connected() {
  return metric_of_mixing<&Mixing::connected>("connected",
                                              "share of channels of a stage that reach each other",
                                              {Form::log_ratio, Direction::promises});
}

}  // namespace lathe::metrics
