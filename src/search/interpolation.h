// Networks between two networks (Figure 9 of the paper): one recipe everywhere, another recipe
// everywhere, and what lies between.
//
//   for (const Between& model : interpolated(graph, parse_recipe("group(2)"),
//                                            parse_recipe("group(4)"), {.points = 8})) ...
//
// There are two ways from one to the other. By "filters", each layer makes a part of its filters by
// one recipe and the rest by the other. By "layers", each layer follows one recipe, and the second
// one takes over from the last layer to the first.
#pragma once

#include "graph/graph.h"
#include "transforms/transform_network.h"

namespace lathe {

struct InterpolationOptions {
  std::string layers = "*";  ///< a pattern: only convolutions with such names change
  size_t points = 8;         ///< how many networks lie between the two
};

/// A network between two networks, or one of the two.
struct Between {
  enum class Way { end, filters, layers };
  Way way = Way::end;
  double part = 0;  ///< the share of the second recipe: 0 at the first end, 1 at the second
  NetworkRecipe recipe;
};

/// Names a way: "end", "filters", "layers".
const char* name_of(Between::Way way);

/// Returns the recipe by which the first "count" filters of a convolution become what "first" makes
/// of them, and the others what "second" does.
///   split_range(co, 16) -> group(2) -> interchange(co.0, co.1) -> group(4)
Recipe of_parts(const Recipe& first, const Recipe& second, long count);

/// Returns the two networks, then those between them, one way after the other. Layers change if
/// both recipes apply to them; layers that read the network's input never change. A layer is cut as
/// near to the wanted part as possible: at a multiple of 16 filters that is also a multiple of an
/// eighth of them. A layer that cannot be cut follows the nearer recipe. Fails if no layer changes.
std::vector<Between> interpolated(const Graph& network, const Recipe& first, const Recipe& second,
                                  const InterpolationOptions& options = {});

}  // namespace lathe
