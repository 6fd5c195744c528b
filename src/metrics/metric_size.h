// The common part of metrics that count how large a network is.
#pragma once

#include "metrics/metric.h"

namespace lathe {

/// Returns what the size of a network contributes to a prediction. Steps only ever make a network
/// smaller, so that its size moved would say the same again. But what is halved a fourth time loses
/// more than it did the first time, and a few large layers can hide that all others became small.
inline Contribution contribution_of_size(Contribution::Use use) {
  return {.use = use,
          .measures = Contribution::Measures::size,
          .forms = {{Form::log_ratio, Direction::promises},
                    {Form::times_less, Direction::warns},
                    {Form::layers_distance, Direction::warns}},
          .whole = Contribution::Whole::sum,
          .first_order = FirstOrderScore{}};
}

}  // namespace lathe
