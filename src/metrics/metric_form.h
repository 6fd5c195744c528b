// The form of the samples that a network reads, so that data can be generated for it.
//
//   Dataset data = load_dataset("synthetic:0").fitted(form_of(network));
#pragma once

#include "data/dataset.h"
#include "graph/graph.h"

namespace lathe {

/// Returns the form of what a network reads of a sample, at each of its inputs.
std::vector<InputForm> inputs_of(const Graph& network);

/// Returns the form of the samples that a classifier reads, as its inputs and its output tell it.
/// An input that indexes a table, as tokens do, has whole numbers below the table's extent. Fails
/// if the network is no classifier.
SampleForm form_of(const Graph& network);

}  // namespace lathe
