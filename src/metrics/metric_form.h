// What a network reads and says of one sample, so that data can be generated for it.
//
//   Dataset data = load_dataset("synthetic:0").fitted(form_of(network));
#pragma once

#include "data/dataset.h"
#include "graph/graph.h"

namespace lathe {

/// Returns the form of the samples that a classifier reads: what its inputs and its output say.
/// Whole numbers that index a table, as tokens do, are below its extent. Fails if the network is no
/// classifier.
SampleForm form_of(const Graph& network);

}  // namespace lathe
