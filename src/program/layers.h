// The nodes of a network as a person sees them: what each is, and what it costs.
#pragma once

#include "nest/footprint.h"
#include "ops/op.h"

namespace lathe {

struct Layer {
  size_t node;  ///< in the graph
  std::string name, op;
  std::string description;  ///< "conv 3x3 64->128 /2"
  std::string key;          ///< nodes of the same key do the same work on other data
  Shape inner_output;       ///< without the batch
  Cost cost;                ///< counted from the nest; nothing where there is none
  long weights = 0;         ///< elements of the weights that it reads
  bool is_convolution = false;
};

/// Describes all nodes of a graph, in order.
std::vector<Layer> layers_of(const Graph& graph);

}  // namespace lathe
