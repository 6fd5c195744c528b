// The layouts that a network can have, as a problem of choices. It has variables, tables of costs
// between them, and, for each entry of a table, the unit that must be measured to know the entry.
//
// Every class of values is a variable. So is every convolution: it can read its data from a copy in
// other blocks than those of the class. The copy has a table of its own. In the network, the border
// of such a copy may be narrower than in the units here. That hardly changes a time.
#pragma once

#include "compile/units.h"
#include "search/elimination.h"

namespace lathe {

/// One entry of a table: a unit in other layouts than usual.
struct LayoutEntry {
  size_t table = 0, place = 0;
  std::vector<std::pair<size_t, size_t>> changed;  ///< variables of the table, and their choices
  std::string unit;                                ///< its key
};

/// What a table is about.
struct LayoutWork {
  std::string node;
  std::string unit;      ///< key of the node's unit in the usual layouts
  bool is_copy = false;  ///< of what the node reads
};

struct LayoutSpace {
  std::string key;  ///< of the network (pass_layout.h)
  Layouts layouts;
  std::vector<size_t> readers;    ///< nodes; they are the variables after the classes
  CostProblem problem;            ///< costs are 0 where nothing changes, else infinity
  std::vector<LayoutWork> works;  ///< of each table
  std::vector<LayoutEntry> entries;
  std::map<std::string, Unit> units;  ///< of works and entries, by key

  /// Returns the class whose blocks a variable is about.
  size_t class_of(size_t variable) const;
};

/// Returns the layouts that a graph can have, for so many workers.
LayoutSpace layout_space(const Graph& graph, long workers = 1);

/// Returns the layouts that a choice of the problem's variables means.
LayoutChoice layouts_for(const LayoutSpace& space, const std::vector<size_t>& chosen);

/// Values that are not in their usual layout, in words for people.
struct ChosenLayout {
  std::vector<std::string> nodes;  ///< that compute them, or read a copy
  bool is_copy = false;
  long block = 0, usual = 0;
  bool all = false;  ///< the block is all channels
};

/// Returns what differs from the usual choice. Values that changed alike are one entry.
std::vector<ChosenLayout> chosen_layouts(const Layouts& layouts, const LayoutChoice& choice);

}  // namespace lathe
