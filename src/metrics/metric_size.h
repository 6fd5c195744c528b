// The common part of metrics that count how large a network is.
#pragma once

#include "metrics/metric.h"
#include "program/layers.h"

namespace lathe {

/// Returns the score that counts something of each layer: count(layer), for one image.
template <class Count>
Score summed_over_layers(const Graph& network, const Count& count) {
  Score score;
  for (const Layer& layer : layers_of(network)) {
    if (layer.cost.macs == 0) continue;
    score.layers.push_back({layer.name, static_cast<double>(count(layer))});
    score.total += score.layers.back().score;
  }
  return score;
}

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
