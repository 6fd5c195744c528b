// import_graph.cpp: the nodes of an ONNX graph, in order. Interface: import_graph.h.
#include "onnx/import_graph.h"

namespace lathe {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;

/// Calls visit(body) for each graph that is an attribute of the node.
template <class Visit>
void each_body(const NodeProto& node, Visit visit) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) visit(attribute.g());
    for (const GraphProto& body : attribute.graphs()) visit(body);
  }
}

std::string domain_of(const NodeProto& node) {
  return node.domain() == "ai.onnx" ? "" : node.domain();
}

std::string translation_name(const NodeProto& node) {
  std::string domain = domain_of(node);
  return domain.empty() ? node.op_type() : domain + ":" + node.op_type();
}

/// Lists the operators that there is no translation for, one a line.
std::string missing_operators(const ImportState& state, const GraphProto& graph) {
  std::string missing;
  for (const NodeProto& node : graph.node()) {
    each_body(node, [&](const GraphProto& body) { missing += missing_operators(state, body); });
    std::string domain = domain_of(node);
    auto opset = state.opsets.find(domain);
    bool is_stated = opset != state.opsets.end();
    if (is_stated && translations().contains(translation_name(node))) continue;
    missing +=
        fmt::format("\n  {} (domain {}, operator set {}), node '{}'", node.op_type(),
                    domain.empty() ? "ai.onnx" : domain,
                    is_stated ? std::to_string(opset->second) : "not stated", name_of_node(node));
  }
  return missing;
}

/// Returns the names that a graph gives to values of its own.
std::set<std::string> names_defined(const GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& input : graph.input()) names.insert(input.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const NodeProto& node : graph.node()) {
    for (const std::string& output : node.output()) {
      if (!output.empty()) names.insert(output);
    }
  }
  return names;
}

/// Returns the names that a node reads; its bodies read names from outside of them.
std::set<std::string> names_read(const NodeProto& node) {
  std::set<std::string> names;
  for (const std::string& input : node.input()) {
    if (!input.empty()) names.insert(input);
  }
  each_body(node, [&](const GraphProto& body) {
    std::set<std::string> inside, own = names_defined(body);
    for (const auto& output : body.output()) inside.insert(output.name());
    for (const NodeProto& inner : body.node()) inside.merge(names_read(inner));
    for (const std::string& name : inside) {
      if (!own.contains(name)) names.insert(name);
    }
  });
  return names;
}

[[noreturn]] void refuse_order(const ImportState& state, const GraphProto& graph,
                               const NodeProto& node, const std::set<std::string>& made) {
  std::set<std::string> computed;
  for (const NodeProto& other : graph.node()) {
    computed.insert(other.output().begin(), other.output().end());
  }
  std::string name = name_of_node(node);
  for (const std::string& input : names_read(node)) {
    if (made.contains(input) || computed.contains(input)) continue;
    fail("{}: node '{}' ({}) reads '{}', which is neither an input nor computed", state.source,
         name, node.op_type(), input);
  }
  fail("{}: the graph has a cycle through node '{}' ({})", state.source, name, node.op_type());
}

/// Returns the nodes in an order in which they can run, the file's if it is one.
std::vector<const NodeProto*> sorted_nodes(const ImportState& state, const GraphProto& graph) {
  std::set<std::string> made;
  auto is_there = [&](const std::string& name) {
    return made.contains(name) || state.values.contains(name) || state.sequences.contains(name);
  };
  // How many operands each node waits for, and which nodes wait for a value.
  const auto& nodes = graph.node();
  std::vector<size_t> missing(static_cast<size_t>(nodes.size()), 0);
  std::unordered_map<std::string, std::vector<size_t>> waiting;
  std::set<size_t> ready;
  for (size_t n = 0; n < missing.size(); ++n) {
    for (const std::string& name : names_read(nodes[static_cast<int>(n)])) {
      if (is_there(name)) continue;
      waiting[name].push_back(n);
      ++missing[n];
    }
    if (missing[n] == 0) ready.insert(n);
  }
  std::vector<const NodeProto*> sorted;
  while (!ready.empty()) {
    const NodeProto& node = nodes[static_cast<int>(*ready.begin())];
    ready.erase(ready.begin());
    sorted.push_back(&node);
    for (const std::string& name : node.output()) {
      if (!made.insert(name).second) continue;
      for (size_t reader : waiting[name]) {
        if (--missing[reader] == 0) ready.insert(reader);
      }
    }
  }
  for (const auto& [name, id] : state.values) made.insert(name);
  for (const auto& [name, list] : state.sequences) made.insert(name);
  for (size_t n = 0; n < missing.size(); ++n) {
    if (missing[n] > 0) refuse_order(state, graph, nodes[static_cast<int>(n)], made);
  }
  return sorted;
}

/// Names that a body defines, while it is translated: what they mean outside is put aside.
class Scope {
 public:
  Scope(ImportState& state, const GraphProto& body) : state_(state), names_(names_defined(body)) {
    for (const std::string& name : names_) {
      if (auto outer = state_.values.extract(name)) hidden_values_.push_back(std::move(outer));
      if (auto outer = state_.sequences.extract(name)) hidden_lists_.push_back(std::move(outer));
    }
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  ~Scope() {
    for (const std::string& name : names_) {
      state_.values.erase(name);
      state_.sequences.erase(name);
    }
    for (auto& outer : hidden_values_) state_.values.insert(std::move(outer));
    for (auto& outer : hidden_lists_) state_.sequences.insert(std::move(outer));
  }

 private:
  ImportState& state_;
  std::set<std::string> names_;
  std::vector<decltype(ImportState::values)::node_type> hidden_values_;
  std::vector<decltype(ImportState::sequences)::node_type> hidden_lists_;
};

void define(ImportState& state, const std::string& name, const TensorOrList& value) {
  if (const auto* id = std::get_if<ValueId>(&value)) {
    state.values[name] = *id;
  } else {
    state.sequences[name] = std::get<std::vector<ValueId>>(value);
  }
}

TensorOrList named(const Site& site, const std::string& name) {
  const ImportState& state = site.state();
  if (auto found = state.values.find(name); found != state.values.end()) return found->second;
  if (auto list = state.sequences.find(name); list != state.sequences.end()) return list->second;
  site.wrong(fmt::format("its body has an output '{}' that no node computes", name));
}

/// Defines the initialisers of a body. They are stored once, however often the body is translated.
void define_initialisers(const Site& site, const GraphProto& body) {
  ImportState& state = site.state();
  if (body.sparse_initializer_size() > 0) site.unsupported("sparse initialisers in its body");
  for (const auto& tensor : body.initializer()) {
    auto [stored, is_new] = state.stored_tensors.emplace(&tensor, no_value);
    if (is_new) {
      std::string what = fmt::format("{}, initialiser '{}'", site.where(), tensor.name());
      stored->second = state.graph.constant(array_of(tensor, state.folder, what), tensor.name());
    }
    state.values[tensor.name()] = stored->second;
  }
}

}  // namespace

void check_operators(const ImportState& state, const GraphProto& graph) {
  std::string missing = missing_operators(state, graph);
  if (missing.empty()) return;
  throw Unsupported(fmt::format("{}: these operators are not supported:{}", state.source, missing));
}

void translate_nodes(ImportState& state, const GraphProto& graph) {
  for (const NodeProto* node : sorted_nodes(state, graph)) {
    translations().at(translation_name(*node))(
        Site(state, *node, state.opsets.at(domain_of(*node))));
  }
}

std::vector<TensorOrList> translate_body(const Site& site, const GraphProto& body,
                                         const std::vector<TensorOrList>& inputs) {
  if (static_cast<size_t>(body.input_size()) != inputs.size()) {
    site.wrong(
        fmt::format("its body takes {} inputs, but gets {}", body.input_size(), inputs.size()));
  }
  site.count_unrolled(std::max(1, body.node_size()));
  Scope scope(site.state(), body);
  define_initialisers(site, body);
  for (size_t i = 0; i < inputs.size(); ++i) {
    define(site.state(), body.input(static_cast<int>(i)).name(), inputs[i]);
  }
  translate_nodes(site.state(), body);
  std::vector<TensorOrList> outputs;
  for (const auto& output : body.output()) outputs.push_back(named(site, output.name()));
  return outputs;
}

}  // namespace lathe
