// graph.cpp: what a valid graph is, and what can be read off one. Interface: graph.h.
#include "graph/graph.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/random.h"

namespace lathe {
namespace {

void verify_ids(const Graph& graph, const std::vector<ValueId>& ids, const std::string& of) {
  for (ValueId id : ids) {
    if (id != no_value && id >= graph.values.size()) {
      fail("graph '{}': {} names value {}, but there are {}", graph.name, of, id,
           graph.values.size());
    }
  }
}

void verify_value(const Graph& graph, const Value& value) {
  if (value.type.dynamic && value.kind != Value::Kind::computed) {
    fail("graph '{}': only computed values may be dynamic, not '{}'", graph.name, value.name);
  }
  if (!value.type.dynamic) count_of(value.type.shape);
  bool may_have_data = value.kind != Value::Kind::input && value.kind != Value::Kind::computed;
  if (value.data && !may_have_data) {
    fail("graph '{}': '{}' is {} but has data", graph.name, value.name, name_of(value.kind));
  }
  if (value.kind == Value::Kind::constant && !value.data) {
    fail("graph '{}': the constant '{}' has no data", graph.name, value.name);
  }
  if (!value.data) return;
  Type type{value.data->element(), value.data->shape()};
  if (type != value.type) {
    fail("graph '{}': '{}' is declared {}, but its data are {}", graph.name, value.name,
         print_type(value.type), print_type(type));
  }
}

/// Checks that a node reads only what is there before it, and adds what it makes.
void verify_node(const Graph& graph, const Node& node, std::vector<bool>& made) {
  verify_ids(graph, node.inputs, "node '" + node.name + "'");
  verify_ids(graph, node.outputs, "node '" + node.name + "'");
  for (ValueId id : node.inputs) {
    if (id == no_value || made[id]) continue;
    fail(
        "graph '{}': node '{}' reads '{}' before any node computes it: the graph has a cycle, or "
        "its nodes are out of order",
        graph.name, node.name, graph.values[id].name);
  }
  if (node.outputs.empty()) fail("graph '{}': node '{}' has no output", graph.name, node.name);
  for (ValueId id : node.outputs) {
    if (id == no_value) fail("graph '{}': node '{}' lacks an output", graph.name, node.name);
    if (made[id]) fail("graph '{}': '{}' is computed twice", graph.name, graph.values[id].name);
    made[id] = true;
  }
}

template <class List>
void verify_names(const Graph& graph, const List& list, const char* what) {
  std::set<std::string_view> names;
  for (const auto& item : list) {
    if (item.name.empty()) fail("graph '{}': a {} has no name", graph.name, what);
    if (!names.insert(item.name).second) {
      fail("graph '{}': there are two {}s '{}'", graph.name, what, item.name);
    }
  }
}

}  // namespace

std::string print_type(const Type& type) {
  if (type.dynamic) return fmt::format("{}[?]", name_of(type.element));
  return fmt::format("{}[{}]", name_of(type.element), fmt::join(type.shape, "x"));
}

const char* name_of(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::input:
      return "input";
    case Value::Kind::weight:
      return "weight";
    case Value::Kind::state:
      return "state";
    case Value::Kind::constant:
      return "constant";
    case Value::Kind::computed:
      return "computed";
  }
  return "";
}

void verify(const Graph& graph) {
  verify_ids(graph, graph.inputs, "its list of inputs");
  verify_ids(graph, graph.outputs, "its list of outputs");
  verify_names(graph, graph.values, "value");
  verify_names(graph, graph.nodes, "node");
  std::vector<bool> made(graph.values.size(), false);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    verify_value(graph, graph.values[id]);
    made[id] = graph.values[id].kind != Value::Kind::computed;
  }
  for (ValueId id : graph.inputs) {
    if (id == no_value || graph.values[id].kind != Value::Kind::input) {
      fail("graph '{}': its list of inputs names what is no input", graph.name);
    }
  }
  for (const Node& node : graph.nodes) verify_node(graph, node, made);
  if (graph.outputs.empty()) fail("graph '{}' has no output", graph.name);
  for (ValueId id : graph.outputs) {
    if (id == no_value || !made[id]) fail("graph '{}': no node computes an output", graph.name);
  }
}

std::vector<std::vector<size_t>> consumers(const Graph& graph) {
  std::vector<std::vector<size_t>> result(graph.values.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId id : graph.nodes[n].inputs) {
      if (id == no_value) continue;
      if (result[id].empty() || result[id].back() != n) result[id].push_back(n);
    }
  }
  return result;
}

std::optional<ValueId> find_value(const Graph& graph, std::string_view name) {
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].name == name) return id;
  }
  return std::nullopt;
}

std::optional<size_t> find_node(const Graph& graph, std::string_view name) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].name == name) return n;
  }
  return std::nullopt;
}

Graph without_dead(const Graph& graph) {
  std::vector<bool> needed(graph.values.size(), false);
  std::vector<bool> kept(graph.nodes.size(), false);
  for (ValueId id : graph.outputs) needed[id] = true;
  for (ValueId id : graph.inputs) needed[id] = true;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    kept[n] = std::any_of(node.outputs.begin(), node.outputs.end(),
                          [&](ValueId id) { return needed[id]; });
    if (!kept[n]) continue;
    for (ValueId id : node.outputs) needed[id] = true;
    for (ValueId id : node.inputs) {
      if (id != no_value) needed[id] = true;
    }
  }
  Graph result{graph.name, {}, {}, {}, {}};
  std::vector<ValueId> renumbered(graph.values.size(), no_value);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (!needed[id]) continue;
    renumbered[id] = result.values.size();
    result.values.push_back(graph.values[id]);
  }
  auto translated = [&](std::vector<ValueId> ids) {
    for (ValueId& id : ids) id = id == no_value ? no_value : renumbered[id];
    return ids;
  };
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!kept[n]) continue;
    Node node = graph.nodes[n];
    node.inputs = translated(node.inputs);
    node.outputs = translated(node.outputs);
    result.nodes.push_back(std::move(node));
  }
  result.inputs = translated(graph.inputs);
  result.outputs = translated(graph.outputs);
  return result;
}

Graph initialised(Graph graph, uint64_t seed) {
  for (Value& value : graph.values) {
    if (value.data || value.initial.kind == Initial::Kind::none) continue;
    Random random(seed, value.name);
    std::vector<double> elements(static_cast<size_t>(count_of(value.type.shape)));
    for (double& element : elements) {
      switch (value.initial.kind) {
        case Initial::Kind::none:
        case Initial::Kind::zeros:
          element = 0;
          break;
        case Initial::Kind::ones:
          element = 1;
          break;
        case Initial::Kind::normal:
          element = random.normal() * value.initial.scale;
          break;
        case Initial::Kind::uniform:
          element = (2 * random.uniform() - 1) * value.initial.scale;
          break;
      }
    }
    value.data = Array::of_reals(value.type.element, value.type.shape, elements);
  }
  return graph;
}

bool is_trained(const Graph& graph) {
  return std::all_of(graph.values.begin(), graph.values.end(), [](const Value& value) {
    return value.kind != Value::Kind::weight || value.data;
  });
}

long weight_count(const Graph& graph) {
  long count = 0;
  for (const Value& value : graph.values) {
    if (value.kind == Value::Kind::weight) count += count_of(value.type.shape);
  }
  return count;
}

}  // namespace lathe
