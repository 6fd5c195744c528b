// collect.cpp: the units of a graph. Interface: collect_units() of units.h.
#include <algorithm>

#include "base/memo.h"
#include "compile/padding.h"
#include "compile/ready.h"
#include "compile/storage.h"
#include "compile/units.h"

namespace lathe {
namespace {

/// Is the padding that the nest of a call reads stored with the value?
bool is_stored(const Storage& storage, const Tensor& tensor) {
  if (storage.border.size() != tensor.pad.size() || storage.padding != tensor.padding) return false;
  for (size_t i = 0; i < tensor.pad.size(); ++i) {
    if (tensor.pad[i].before > storage.border[i].before) return false;
    if (tensor.pad[i].after > storage.border[i].after) return false;
  }
  return true;
}

/// Returns the operands of a call as its nest reads them: found once for all graphs that have it.
std::shared_ptr<const std::vector<Tensor>> operands_of(const Call& call, const std::string& text) {
  static Memo<std::vector<Tensor>> memo;
  return memo.of(text, [&] {
    Context context;
    std::vector<Tensor> result;
    Nest nest = nest_of(context, call);
    for (const Tensor& tensor : nest.tensors()) {
      if (tensor.role == Role::input || tensor.role == Role::weight) result.push_back(tensor);
    }
    return result;
  });
}

class Collecting {
 public:
  explicit Collecting(const Graph& graph) : graph_(graph) {}

  CollectedUnits run() {
    result_.of_node.resize(graph_.nodes.size());
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (is_assembled(node)) continue;
      for (ValueId id : node.outputs) {
        if (is_padded(graph_.values[id].storage.border)) add_border(n, id);
      }
      Call call = call_of(graph_, node);
      Unit unit{print(call), call, {}, {}, {}, {}, false, {}, {}, 0};
      std::shared_ptr<const std::vector<Tensor>> operands = operands_of(call, unit.key);
      size_t next = 0;
      for (ValueId id : node.inputs) {
        if (!is_there(graph_, id)) continue;
        add_input(unit, id, operands->at(next++));
      }
      for (ValueId id : node.outputs) {
        if (!is_there(graph_, id)) continue;
        Layout layout = layout_of(graph_, id);
        layout.origin = 0;
        unit.key += " -> " + print_layout(layout);
        unit.outputs.push_back(layout);
      }
      result_.of_node[n].push_back(result_.units.size());
      result_.units.push_back(std::move(unit));
    }
    return std::move(result_);
  }

 private:
  const Graph& graph_;
  CollectedUnits result_;

  void add_input(Unit& unit, ValueId id, const Tensor& tensor) {
    Layout layout = layout_of(graph_, id);
    bool stored = is_stored(graph_.values[id].storage, tensor);
    unit.borders.push_back(stored ? graph_.values[id].storage.border : std::vector<Pad>());
    layout.origin = 0;
    unit.constant.push_back(has_data(graph_.values[id]));
    unit.key += fmt::format(" ({}{}{})", print_layout(layout), stored ? " stored" : "",
                            unit.constant.back() ? " known" : "");
    for (const Pad& pad : unit.borders.back()) unit.key += fmt::format(" {}", pad.after);
    unit.inputs.push_back(layout);
  }

  void add_border(size_t n, ValueId id) {
    const Value& value = graph_.values[id];
    Layout layout = layout_of(graph_, id);
    layout.origin = 0;
    Unit unit{"border",
              call_of(graph_, graph_.nodes[n]),
              {},
              {layout},
              {},
              {},
              true,
              value.type,
              value.storage.border,
              value.storage.padding};
    unit.key += " " + print_type(value.type) + print_layout(layout);
    for (const Pad& pad : unit.border) unit.key += fmt::format(" {},{}", pad.before, pad.after);
    result_.of_node[n].push_back(result_.units.size());
    result_.units.push_back(std::move(unit));
  }

  /// Is the node's output there once its operands are: a concatenation of parts in place?
  bool is_assembled(const Node& node) const {
    if (node.op != "concat") return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return graph_.values[id].storage.whole == node.outputs.front();
    });
  }
};

}  // namespace

CollectedUnits collect_units(const Graph& ready) { return Collecting(ready).run(); }

std::vector<NodeUnit> units_of_stored(const Graph& ready) {
  CollectedUnits collected = collect_units(ready);
  std::vector<NodeUnit> result;
  for (size_t n = 0; n < ready.nodes.size(); ++n) {
    if (collected.of_node[n].empty()) continue;
    result.push_back({ready.nodes[n].name, collected.units[collected.of_node[n].back()]});
  }
  return result;
}

std::vector<NodeUnit> units_of(const Graph& graph, long workers, const LayoutChooser& layouts) {
  return units_of_stored(ready_to_compile(graph, {.workers = workers, .layouts = layouts}));
}

}  // namespace lathe
