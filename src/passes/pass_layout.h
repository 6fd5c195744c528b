// Which values of a network must lie alike, and in which blocks of channels they may lie.
//
//   Layouts layouts = layouts_of(graph, target.cpu.vector_bytes);
//   Graph usual = with_layouts(layouts, own_choice(layouts));
//
// Values that share their channels (in a residual sum or a concatenation) are a class: they have
// the same blocks. A convolution may read its data from a copy in blocks of another size.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "graph/graph.h"

namespace lathe {

/// Values that lie in blocks of one size.
struct LayoutClass {
  std::vector<ValueId> values;
  std::vector<long> blocks;  ///< sizes to try; without measurements the first is taken
  long channels = 0;         ///< the numbers of channels of all values are multiples of it
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
  std::map<size_t, long> copies;  ///< for nodes that read their data from a copy: its blocks

  friend bool operator==(const LayoutChoice&, const LayoutChoice&) = default;
};

/// Finds the classes. Blocks that fill vectors of so many bytes come first.
Layouts layouts_of(const Graph& graph, long vector_bytes);

/// Returns the choice without measurements: the largest block that fits.
LayoutChoice own_choice(const Layouts& layouts);

/// Can the node read its data from a copy? Convolutions that sum over channels can.
bool can_read_copy(const Layouts& layouts, size_t node);

/// Does the choice fit these layouts? A choice from a file may belong to another network.
bool fits(const Layouts& layouts, const LayoutChoice& choice);

/// Returns the graph with its values stored as chosen. Nodes that read the same copy share it.
/// There is no copy where it would have the same blocks as the original.
Graph with_layouts(const Layouts& layouts, const LayoutChoice& choice);

/// Names what a choice for a graph depends on: its nodes in order and their types, but neither
/// names nor data.
std::string layout_key(const Graph& graph);

/// Returns the layouts for the graph of this key. Nothing: the pass chooses.
using LayoutChooser = std::function<std::optional<LayoutChoice>(const std::string& key)>;

/// Prints a choice, "64 32 16; 5:32" (a copy for node 5); reads it, nothing if it is malformed.
std::string print(const LayoutChoice& choice);
std::optional<LayoutChoice> parse_layout_choice(const std::string& text);

}  // namespace lathe
