// Which values of a network must lie alike, and in which blocks of channels they may lie.
//
//   Layouts layouts = layouts_of(graph);
//   Graph usual = with_layouts(layouts, own_choice(layouts));
//
// Values whose channels are the same ones (of a residual sum, a concatenation) are a class: they
// have the same blocks. A convolution may read its data in blocks of another size: from a copy.
#pragma once

#include <map>
#include <optional>

#include "graph/graph.h"

namespace lathe {

/// Values that lie in blocks of one size.
struct LayoutClass {
  std::vector<ValueId> values;
  std::vector<long> blocks;  ///< worth a look; the first is taken where nobody measured
  long channels = 0;         ///< what the values' channels are multiples of
};

/// A graph whose layouts can be chosen, its classes in the order of their first values.
struct Layouts {
  Graph graph;
  std::vector<LayoutClass> classes;
  std::vector<size_t> class_of;  ///< by value; no_class for those that stay row-major
};

inline constexpr size_t no_class = static_cast<size_t>(-1);

struct LayoutChoice {
  std::vector<long> blocks;       ///< of each class
  std::map<size_t, long> copies;  ///< nodes that read their data from a copy in such blocks

  friend bool operator==(const LayoutChoice&, const LayoutChoice&) = default;
};

Layouts layouts_of(const Graph& graph);

/// Returns the choice of those who measured nothing: the largest block that fits.
LayoutChoice own_choice(const Layouts& layouts);

/// Can the node read its data from a copy? Convolutions can that sum over channels.
bool can_read_copy(const Layouts& layouts, size_t node);

/// Is the choice one for these layouts? One that was kept in a file may be of another network.
bool fits(const Layouts& layouts, const LayoutChoice& choice);

/// Returns the graph, stored so. Nodes that read the same copy share it; where it would have the
/// blocks of what it is a copy of there is none.
Graph with_layouts(const Layouts& layouts, const LayoutChoice& choice);

/// Names what a choice for a graph depends on: its nodes in order and their types, but neither
/// names nor data.
std::string layout_key(const Graph& graph);

/// Prints a choice, "64 32 16; 5:32" (a copy for node 5); reads it, nothing if it is none.
std::string print(const LayoutChoice& choice);
std::optional<LayoutChoice> parse_layout_choice(const std::string& text);

}  // namespace lathe
