// Networks between two networks (Figure 9 of the paper): one recipe everywhere, another recipe
// everywhere, and what lies between.
//
//   for (const Between& model : interpolated(graph, parse_recipe("group(2)"),
//                                            parse_recipe("group(4)"), {.points = 8})) ...
//
// There are two ways from one to the other: each layer has a part of its filters by the one recipe
// and the rest by the other; or each layer is as a whole by one of them, the last layers by the
// second first. No list of operators has the former: they are made of steps.
#pragma once

#include "graph/graph.h"
#include "transforms/transform_network.h"

namespace lathe {

struct InterpolationOptions {
  std::string layers = "*";  ///< a pattern; of these, the convolutions to which both recipes apply
  size_t points = 8;         ///< networks between the two
};

/// A network of a row.
struct Between {
  enum class Way { end, filters, layers };
  Way way = Way::end;
  double part = 0;  ///< that the second recipe has: 0 is the first end, 1 the second
  NetworkRecipe recipe;
};

/// Names a way: "end", "filters", "layers".
const char* name_of(Between::Way way);

/// Returns the recipe by which the first "count" filters of a convolution become what "first" makes
/// of them, and the others what "second" does.
///   split_range(co, 16) -> group(2) -> interchange(co.0, co.1) -> group(4)
Recipe of_parts(const Recipe& first, const Recipe& second, long count);

/// Returns the two networks, then those between, the ways one after the other. Each layer is cut at
/// a multiple of 16 filters and of an eighth of them, where both recipes apply, as near to the
/// wanted part as can be; one that cannot be cut is by the nearer recipe. Fails where there is no
/// layer to which both apply. Layers that read the network's input stay.
std::vector<Between> interpolated(const Graph& network, const Recipe& first, const Recipe& second,
                                  const InterpolationOptions& options = {});

}  // namespace lathe
