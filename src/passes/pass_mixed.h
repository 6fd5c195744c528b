// Networks whose numbers are stored in half the size, and added up as before.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "graph/graph.h"

namespace lathe::passes {

struct MixedPrecision {
  Element half = Element::f16;      ///< or bf16
  std::set<std::string> wide = {};  ///< values that stay f32, by name: others would overflow
  /// Which layers read halves? Null: all.
  std::function<bool(const Node&)> which = nullptr;
};

/// Returns the network in which layers read numbers of half the size, and all that is stored
/// between layers has it (to_mixed_precision.cpp). Layers whose weights are too large for it stay
/// as they are.
Graph with_mixed_precision(const Graph& graph, const MixedPrecision& options);

/// Returns the largest number of a type of half the size.
double largest_of(Element half);

/// Are all numbers of a value that is known small enough for a type?
bool fits(const Value& value, Element half);

}  // namespace lathe::passes
