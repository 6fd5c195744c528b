// hash.cpp: the structural hash of a graph. Interface: structural_hash() of graph.h.
//
// Every value gets a hash of how it comes about: inputs by their place, weights by their data or
// how they begin, computed values by their node's operator, attributes and inputs. So neither names
// nor the order of independent nodes matter.
#include <algorithm>

#include "base/random.h"
#include "graph/graph.h"

namespace lathe {
namespace {

/// Gathers what is hashed as text, each part with its length: no two lists of parts look the same.
class Hasher {
 public:
  Hasher& add(std::string_view part) {
    text_ += fmt::format("{}:", part.size());
    text_ += part;
    return *this;
  }
  Hasher& add(uint64_t part) { return add(std::to_string(part)); }
  uint64_t hash() const { return hash_bytes(text_); }

 private:
  std::string text_;
};

uint64_t hash_of_data(const Array& data) {
  Hasher h;
  if (data.element() == Element::string) {
    for (const std::string& s : data.strings()) h.add(s);
    return h.hash();
  }
  return hash_data(data.bytes());
}

uint64_t hash_of_given(const Value& value) {
  Hasher h;
  h.add(name_of(value.kind)).add(print_type(value.type));
  if (value.data) return h.add("data").add(hash_of_data(*value.data)).hash();
  return h.add(static_cast<uint64_t>(value.initial.kind))
      .add(fmt::format("{}", value.initial.scale))
      .hash();
}

/// What values of a graph come from.
struct ValueHashes {
  std::vector<uint64_t> of;     ///< each value
  std::vector<uint64_t> nodes;  ///< each node
};

uint64_t hash_of_storage(const Storage& storage, const std::vector<uint64_t>& of) {
  Hasher h;
  h.add(static_cast<uint64_t>(storage.block)).add(fmt::format("{}", storage.padding));
  for (const Pad& pad : storage.border) h.add(fmt::format("{} {}", pad.before, pad.after));
  if (storage.whole != no_value) h.add(of[storage.whole]);
  return h.add(static_cast<uint64_t>(storage.first)).hash();
}

ValueHashes hashes_of(const Graph& graph) {
  ValueHashes hashes{std::vector<uint64_t>(graph.values.size(), 0), {}};
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].kind != Value::Kind::computed)
      hashes.of[id] = hash_of_given(graph.values[id]);
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    ValueId id = graph.inputs[i];
    hashes.of[id] = Hasher().add(hashes.of[id]).add(i).hash();
  }
  for (const Node& node : graph.nodes) {
    Hasher h;
    h.add(node.op);
    for (const auto& [name, value] : node.attributes) h.add(name).add(print_attribute(value));
    for (ValueId id : node.inputs) h.add(id == no_value ? 0 : hashes.of[id]);
    hashes.nodes.push_back(h.hash());
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      hashes.of[node.outputs[i]] = Hasher().add(hashes.nodes.back()).add(i).hash();
    }
  }
  return hashes;
}

uint64_t hash_of_outputs(const Graph& graph, const ValueHashes& hashes) {
  Hasher h;
  h.add(graph.inputs.size());
  for (ValueId id : graph.inputs) h.add(print_type(graph.values[id].type));
  for (ValueId id : graph.outputs) h.add(hashes.of[id]);
  return h.hash();
}

}  // namespace

uint64_t structural_hash(const Graph& graph) { return hash_of_outputs(graph, hashes_of(graph)); }

uint64_t written_hash(const Graph& graph) {
  ValueHashes hashes = hashes_of(graph);
  std::vector<uint64_t> nodes;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Hasher h;
    h.add(hashes.nodes[n]);
    for (ValueId id : graph.nodes[n].outputs) {
      h.add(hash_of_storage(graph.values[id].storage, hashes.of));
    }
    nodes.push_back(h.hash());
  }
  std::sort(nodes.begin(), nodes.end());
  Hasher h;
  h.add(hash_of_outputs(graph, hashes));
  for (uint64_t node : nodes) h.add(node);
  return h.hash();
}

}  // namespace lathe
