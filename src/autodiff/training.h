// A network as it learns.
//
//   Learning learning = with_loss(in_training(load_model("resnet34-cifar", {.batch = 64})));
//   Gradients g = with_gradients(learning.graph, learning.losses, {...});
#pragma once

#include "graph/graph.h"

namespace lathe {

/// Returns the network in training mode: batch normalisations take mean and variance from the
/// batch, not from their state.
Graph in_training(const Graph& graph);

/// A classifier with its loss, the cross-entropy, sample by sample.
struct Learning {
  Graph graph;             ///< has a further input "labels": for each sample, 1 at its class
  ValueId images, labels;  ///< inputs: the first, and the last
  ValueId logits;          ///< what the network says, before a softmax
  ValueId losses;          ///< -log(probability of the class) at the class, 0 at the others
};

/// Fails if an output of the network is not of real numbers, sample by sample.
void check_outputs_are_real(const Graph& graph);

/// Returns the network with one output, [samples, elements], that has all of the others side by
/// side. They must be real.
Graph with_joined_outputs(const Graph& graph);

/// Adds a loss whose gradient by the output is given as the input "labels": the sum of output times
/// labels.
Learning with_given_gradient(const Graph& graph);

/// Returns the output that says what class each sample is of: the one that is [samples, classes].
/// Fails, and says why, if there is none or there are several.
ValueId classes_of(const Graph& graph);

/// Adds the loss. Fails if the network is no classifier.
Learning with_loss(const Graph& graph);

}  // namespace lathe
