// Units of work: a node, or the border of a value, with the layouts of its tensors. Each kind is
// compiled once, on several threads.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "compile/compile.h"
#include "compile/node.h"
#include "ops/op.h"

namespace lathe {

/// What is compiled alone. Layouts begin at 0: where a tensor begins is said when it is called.
struct Unit {
  std::string key;  ///< equal keys are compiled alike
  Call call;
  std::vector<Layout> inputs, outputs;
  std::vector<std::vector<Pad>> borders;  ///< of the inputs; empty: padding is not stored
  std::vector<bool> constant;             ///< which inputs are known beforehand
  bool border_only = false;               ///< it sets the border of a value: outputs[0]
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

/// What units became, for graphs that are compiled one after the other and have units in common:
/// the same network with other weights, or with one layer changed. Used by several threads.
class MadeUnits {
 public:
  /// Returns what a unit of this key became, or null.
  std::shared_ptr<const Made> find(const std::string& key) const;
  void keep(const std::string& key, std::shared_ptr<const Made> made);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Made>> made_;
};

/// Prints a layout: equal texts are equal layouts, but for the origin.
std::string print_layout(const Layout& layout);

/// Returns the code of a unit, without symbols and object.
Made lowered(isl::ctx ctx, const Unit& unit, const Target& target, Listing listing,
             const std::optional<Choice>& choice = std::nullopt, double max_error = any_error);

/// Returns a unit's code as an object, with the options' choice.
std::shared_ptr<const Made> make_unit(const Unit& unit, const CompileOptions& options);

/// Returns a name of a unit's kernels: equal kernels have equal names, others do not in practice.
std::string name_of_kernels(const NodeCode& code);

/// A unit's nest, and where its tensors lie; locals have no layout yet.
struct UnitNest {
  Nest nest;
  std::vector<Layout> layouts;
};
UnitNest nest_of(isl::ctx ctx, const Unit& unit);

/// A node and the unit that does its work; a border that it needs is set by another.
struct NodeUnit {
  std::string node;
  Unit unit;
};

/// The units of a graph, and which of them each node has: borders of its outputs, then its own.
struct CollectedUnits {
  std::vector<Unit> units;
  std::vector<std::vector<size_t>> of_node;
};

/// Returns the units of a graph whose values have their storage.
CollectedUnits collect_units(const Graph& ready);

/// Returns the units of a graph as compile() would make them for so many workers, node by node.
std::vector<NodeUnit> units_of(const Graph& graph, long workers = 1,
                               const LayoutChooser& layouts = nullptr);

/// The same of a graph whose values have their storage.
std::vector<NodeUnit> units_of_stored(const Graph& ready);

/// Returns the templates that fit a unit.
std::vector<Fitting> fitting_schedules(isl::ctx ctx, const Unit& unit, const Target& target);

/// Returns what the units' choice is, if somebody chose.
std::optional<Choice> choice_for(const CompileOptions& options, const Unit& unit);

/// Returns what each unit becomes; equal units share it.
std::vector<std::shared_ptr<const Made>> make_units(const std::vector<Unit>& units,
                                                    const CompileOptions& options);

}  // namespace lathe
