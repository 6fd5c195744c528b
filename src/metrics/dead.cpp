// dead.cpp: which channels are computed and never used?
#include "metrics/metric_mixing.h"

namespace lathe::metrics {

Metric dead() {
  return metric_of_mixing<&Mixing::dead>("dead", "share of channels that nothing uses",
                                         {Form::difference, Direction::warns});
}

}  // namespace lathe::metrics
