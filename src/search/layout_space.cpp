// layout_space.cpp: variables, tables and units of layouts. Interface: layout_space.h.
#include "search/layout_space.h"

#include <algorithm>
#include <limits>

#include "compile/ready.h"

namespace lathe {
namespace {

constexpr size_t unset = static_cast<size_t>(-1);

class Building {
 public:
  Building(const Graph& graph, long workers) {
    PassContext context = context_of({});
    context.workers = workers;
    Graph simple = simplified(graph, context);
    space_.key = layout_key(simple);
    space_.layouts = layouts_of(simple, context.vector_bytes);
    for (const LayoutClass& each : space_.layouts.classes) {
      space_.problem.sizes.push_back(each.blocks.size());
    }
    for (size_t n = 0; n < nodes().size(); ++n) {
      if (!can_read_copy(space_.layouts, n) || sizes()[input_class(n)] == 1) continue;
      reader_of_[n] = sizes().size();
      space_.readers.push_back(n);
      space_.problem.sizes.push_back(sizes()[input_class(n)]);
    }
  }

  LayoutSpace run() {
    bool nothing = std::all_of(sizes().begin(), sizes().end(), [](size_t n) { return n == 1; });
    if (nothing) return std::move(space_);  // to choose
    std::map<std::string, Unit> units = units_for({});
    for (size_t n = 0; n < nodes().size(); ++n) {
      auto unit = units.find(nodes()[n].name);
      if (unit == units.end()) continue;  // nothing is done
      std::vector<size_t> variables = variables_of(n);
      if (variables.empty()) continue;
      space_.units.emplace(unit->second.key, unit->second);
      add_table(n, variables, unit->second.key, false);
      auto reader = reader_of_.find(n);
      if (reader != reader_of_.end()) {
        add_table(n, {input_class(n), reader->second}, unit->second.key, true);
      }
    }
    find_units();
    return std::move(space_);
  }

 private:
  /// A choice of each variable, or none yet.
  using Chosen = std::vector<size_t>;
  LayoutSpace space_;
  std::map<size_t, size_t> reader_of_;  // variables, by node
  std::vector<size_t> node_of_;         // of each table

  const std::vector<Node>& nodes() const { return space_.layouts.graph.nodes; }
  const std::vector<size_t>& sizes() const { return space_.problem.sizes; }
  size_t input_class(size_t n) const { return space_.layouts.class_of[nodes()[n].inputs.front()]; }

  /// Returns the variables that a node's time depends on: one or two, as values that are not read
  /// by sums over channels have the blocks of the outputs.
  std::vector<size_t> variables_of(size_t n) const {
    std::vector<size_t> result;
    const Node& node = nodes()[n];
    auto add = [&](ValueId id) {
      size_t c = id == no_value ? no_class : space_.layouts.class_of[id];
      if (c == no_class || sizes()[c] == 1) return;
      if (std::find(result.begin(), result.end(), c) == result.end()) result.push_back(c);
    };
    auto reader = reader_of_.find(n);
    if (reader != reader_of_.end()) result.push_back(reader->second);
    for (size_t i = reader == reader_of_.end() ? 0 : 1; i < node.inputs.size(); ++i) {
      add(node.inputs[i]);
    }
    for (ValueId id : node.outputs) add(id);
    return result;
  }

  void add_table(size_t n, const std::vector<size_t>& variables, const std::string& unit,
                 bool is_copy) {
    size_t entries = 1;
    for (size_t v : variables) entries *= sizes()[v];
    CostTable table{variables,
                    std::vector<double>(entries, std::numeric_limits<double>::infinity())};
    for (size_t place = 0; place < entries; ++place) {
      LayoutEntry entry{space_.works.size(), place, {}, {}};
      size_t rest = place;
      for (size_t i = variables.size(); i-- > 0; rest /= sizes()[variables[i]]) {
        entry.changed.emplace_back(variables[i], rest % sizes()[variables[i]]);
      }
      bool nothing = is_copy ? entry.changed[0].second == entry.changed[1].second : place == 0;
      if (nothing) {
        table.costs[place] = 0;
      } else {
        space_.entries.push_back(std::move(entry));
      }
    }
    space_.problem.tables.push_back(std::move(table));
    space_.works.push_back({nodes()[n].name, unit, is_copy});
    node_of_.push_back(n);
  }

  /// Returns the units of the network by node, with these layouts; "copy of X" is what copies for
  /// the node X.
  std::map<std::string, Unit> units_for(const Chosen& given) const {
    Chosen chosen = given;
    chosen.resize(sizes().size(), unset);
    for (size_t c = 0; c < space_.layouts.classes.size(); ++c) {
      if (chosen[c] == unset) chosen[c] = 0;
    }
    for (const auto& [n, v] : reader_of_) {
      if (chosen[v] == unset) chosen[v] = chosen[input_class(n)];
    }
    Graph ready = stored(space_.layouts, layouts_for(space_, chosen));
    std::map<std::string, Unit> units;
    for (NodeUnit& node : units_of_stored(ready)) units.emplace(node.node, std::move(node.unit));
    for (const Node& node : ready.nodes) {
      if (node.inputs.empty() || node.inputs.front() == no_value) continue;
      auto copy = units.find(ready.values[node.inputs.front()].name);
      if (copy != units.end()) units.emplace("copy of " + node.name, Unit(copy->second));
    }
    return units;
  }

  /// Adds what an entry needs, if nothing speaks against it.
  bool take(Chosen& chosen, const LayoutEntry& entry) const {
    auto wanted = entry.changed;
    size_t n = node_of_[entry.table];
    auto reader = reader_of_.find(n);
    // Where nothing is said of the class the blocks are its own, and there is no copy.
    auto is = [](size_t variable) {
      return [variable](const auto& each) { return each.first == variable; };
    };
    if (reader != reader_of_.end() &&
        std::none_of(wanted.begin(), wanted.end(), is(input_class(n)))) {
      auto read = std::find_if(wanted.begin(), wanted.end(), is(reader->second));
      wanted.emplace_back(input_class(n), read->second);
    }
    bool free = std::all_of(wanted.begin(), wanted.end(), [&](const auto& each) {
      return chosen[each.first] == unset || chosen[each.first] == each.second;
    });
    if (!free) return false;
    for (const auto& [v, at] : wanted) chosen[v] = at;
    return true;
  }

  /// Finds the units of all entries, of as many as possible at a time.
  void find_units() {
    std::vector<LayoutEntry> pending = std::move(space_.entries), later;
    space_.entries.clear();
    while (!pending.empty()) {
      Chosen chosen(sizes().size(), unset);
      std::vector<LayoutEntry> taken;
      for (LayoutEntry& entry : pending) {
        (take(chosen, entry) ? taken : later).push_back(std::move(entry));
      }
      std::map<std::string, Unit> units = units_for(chosen);
      for (LayoutEntry& entry : taken) {
        const LayoutWork& work = space_.works[entry.table];
        auto unit = units.find(work.is_copy ? "copy of " + work.node : work.node);
        if (unit == units.end()) continue;
        entry.unit = unit->second.key;
        space_.units.emplace(entry.unit, unit->second);
        space_.entries.push_back(std::move(entry));
      }
      pending = std::move(later);
      later.clear();
    }
  }
};

std::string producer_of(const Graph& graph, ValueId id) {
  for (const Node& node : graph.nodes) {
    if (std::find(node.outputs.begin(), node.outputs.end(), id) != node.outputs.end()) {
      return node.name;
    }
  }
  return graph.values[id].name;
}

}  // namespace

size_t LayoutSpace::class_of(size_t variable) const {
  size_t classes = layouts.classes.size();
  if (variable < classes) return variable;
  return layouts.class_of[layouts.graph.nodes[readers[variable - classes]].inputs.front()];
}

LayoutSpace layout_space(const Graph& graph, long workers) {
  return Building(graph, workers).run();
}

LayoutChoice layouts_for(const LayoutSpace& space, const std::vector<size_t>& chosen) {
  LayoutChoice choice;
  auto block = [&](size_t v) { return space.layouts.classes[space.class_of(v)].blocks[chosen[v]]; };
  size_t classes = space.layouts.classes.size();
  for (size_t c = 0; c < classes; ++c) choice.blocks.push_back(block(c));
  for (size_t i = 0; i < space.readers.size(); ++i) {
    size_t v = classes + i;
    if (chosen[v] != chosen[space.class_of(v)]) choice.copies[space.readers[i]] = block(v);
  }
  return choice;
}

std::vector<ChosenLayout> chosen_layouts(const Layouts& layouts, const LayoutChoice& choice) {
  std::vector<ChosenLayout> result;
  auto add = [&](const LayoutClass& of, bool is_copy, long block, long usual) {
    bool all = std::all_of(of.values.begin(), of.values.end(), [&](ValueId id) {
      return layouts.graph.values[id].type.shape[1] == block;
    });
    auto same = std::find_if(result.begin(), result.end(), [&](const ChosenLayout& each) {
      return each.is_copy == is_copy && each.block == block && each.usual == usual &&
             each.all == all;
    });
    if (same != result.end()) return same;
    result.push_back({{}, is_copy, block, usual, all});
    return result.end() - 1;
  };
  for (size_t c = 0; c < layouts.classes.size(); ++c) {
    const LayoutClass& of = layouts.classes[c];
    if (choice.blocks[c] == of.blocks.front()) continue;
    auto at = add(of, false, choice.blocks[c], of.blocks.front());
    for (ValueId id : of.values) at->nodes.push_back(producer_of(layouts.graph, id));
  }
  for (const auto& [n, block] : choice.copies) {
    const Node& node = layouts.graph.nodes[n];
    size_t c = layouts.class_of[node.inputs.front()];
    add(layouts.classes[c], true, block, choice.blocks[c])->nodes.push_back(node.name);
  }
  return result;
}

}  // namespace lathe
