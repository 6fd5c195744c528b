// Units of work. A unit is a node, or the border of a value, with the layouts of its tensors. Equal
// units are compiled once. Several threads compile.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "compile/compile.h"
#include "compile/node.h"
#include "ops/op.h"

namespace lathe {

/// What is compiled alone. Layouts begin at 0: a call of the code tells where each tensor begins.
struct Unit {
  std::string key;  ///< equal keys are compiled alike
  Call call;
  std::vector<Layout> inputs, outputs;
  std::vector<std::vector<Pad>> borders;  ///< of the inputs; empty: the padding is not in memory
  std::vector<bool> constant;             ///< which inputs are known when the network is loaded?
  bool border_only = false;               ///< does it only set the border of outputs[0]?
  Type border_type = {};
  std::vector<Pad> border = {};
  double padding = 0;
};

/// What a unit becomes.
struct Made {
  NodeCode code;
  std::vector<std::string> symbols;
  std::string object;
  double flops = 0;
};

/// What units became. It serves graphs that are compiled one after the other and share units, such
/// as a network with one layer changed. Several threads may use it.
class MadeUnits {
 public:
  /// Returns what the unit of this key became, or null.
  std::shared_ptr<const Made> find(const std::string& key) const;
  void keep(const std::string& key, std::shared_ptr<const Made> made);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Made>> made_;
};

/// Prints a layout without its origin. Equal layouts give equal texts, and others do not.
std::string print_layout(const Layout& layout);

/// Returns the code of a unit, without symbols and object.
Made lowered(isl::ctx ctx, const Unit& unit, const Target& target, Listing listing,
             const std::optional<Choice>& choice = std::nullopt, double max_error = any_error);

/// Compiles a unit to an object, with the choice of the options.
std::shared_ptr<const Made> make_unit(const Unit& unit, const CompileOptions& options);

/// Returns a name for the kernels of a unit. Equal kernels have equal names; in practice, different
/// kernels do not.
std::string name_of_kernels(const NodeCode& code);

/// The nest of a unit, and the layouts of its tensors. Local tensors have no layout yet.
struct UnitNest {
  Nest nest;
  std::vector<Layout> layouts;
};
UnitNest nest_of(isl::ctx ctx, const Unit& unit);

/// A node, and the unit that does its work. Another unit sets the border that it needs.
struct NodeUnit {
  std::string node;
  Unit unit;
};

/// The units of a graph. "of_node" tells which units a node has: borders of its outputs, then its
/// own unit.
struct CollectedUnits {
  std::vector<Unit> units;
  std::vector<std::vector<size_t>> of_node;
};

/// Returns the units of a graph whose values have their storage.
CollectedUnits collect_units(const Graph& ready);

/// Returns the units that compile() would make of a graph for so many workers, node by node.
std::vector<NodeUnit> units_of(const Graph& graph, long workers = 1,
                               const LayoutChooser& layouts = nullptr);

/// Returns the same for a graph whose values have their storage.
std::vector<NodeUnit> units_of_stored(const Graph& ready);

/// Returns the templates that fit a unit.
std::vector<Fitting> fitting_schedules(isl::ctx ctx, const Unit& unit, const Target& target);

/// Returns the choice of the options for a unit, if they have one.
std::optional<Choice> choice_for(const CompileOptions& options, const Unit& unit);

/// Returns what each unit becomes. Equal units share it.
std::vector<std::shared_ptr<const Made>> make_units(const std::vector<Unit>& units,
                                                    const CompileOptions& options);

}  // namespace lathe
