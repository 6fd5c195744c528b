// Which numbers values can hold, as far as their types and what computes them tell.
//
//   q: i8                                            -128 ... 127
//   s = conv(q, w: i8[64x16x3x3], to="i32")          144 products: -2359296 ... 2359296
//
// Whoever leaves out to store an integer must know that it fits its type: numbers of other types,
// in which nests compute, do not wrap around.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace lathe::passes {

struct Range {
  double least, greatest;
};

/// Returns the least and the greatest element, of some.
Range range_of(const Array& data);

/// Returns the range of each value. Those of integers that may wrap around are all of their type.
/// Reals may be any number.
std::vector<Range> ranges_of(const Graph& graph);

/// Is a node's only output known to fit its type before it is stored: a real, or an integer that
/// neither wraps around nor loses a fraction?
bool fits_its_type(const Graph& graph, const std::vector<Range>& ranges, const Node& node);

}  // namespace lathe::passes
