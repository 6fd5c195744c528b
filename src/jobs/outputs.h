// How near a changed network is to its original where nobody has labels: by all of its outputs.
//
//   OutputsCompared found = compare_outputs(original, changed, data, 256, threads);
//   found.explained()                 86.5: so many percent of what the original's outputs vary
//
// Every output counts alike, however large its numbers are.
#pragma once

#include "data/dataset.h"
#include "graph/graph.h"
#include "jobs/event.h"

namespace lathe {

/// What an output of the original is like, and how far another network is off.
struct OutputCompared {
  long elements = 0;    ///< of one sample
  double variance = 0;  ///< the mean over all elements, each around its own mean over the samples
  double distance = 0;  ///< the mean of all squared differences
};

struct OutputsCompared {
  long samples = 0;
  std::vector<OutputCompared> outputs;

  /// Returns the share of the variance that the other network has, too, in percent: the mean over
  /// the outputs. A network that always says the same has 0, and none has less.
  double explained() const;
};

/// Runs both networks, which may be for any number of samples, on the first of the data. Fails if
/// they do not fit, or if an output is not one of numbers, sample by sample.
OutputsCompared compare_outputs(const Graph& original, const Graph& changed, const Dataset& data,
                                long samples, int threads, const JobListener& listener = {});

}  // namespace lathe
