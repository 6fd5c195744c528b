// weights.cpp: the data of weights as kernels read them. Interface: weights.h.
#include "compile/weights.h"

#include <cstring>
#include <unordered_map>

#include "base/error.h"

namespace lathe {

Graph without_data(Graph graph) {
  for (Value& value : graph.values) {
    bool given = value.kind == Value::Kind::weight || value.kind == Value::Kind::state;
    if (given) value.data.reset();
  }
  return graph;
}

void write(const CompiledWeight& weight, const Array& data, std::byte* weights) {
  const std::byte* from = data.bytes().data();
  std::byte* to = weights + weight.offset;
  if (weight.repacking) {
    repack(*weight.repacking, from, to, size_of(weight.type.element));
  } else {
    std::memcpy(to, from, data.bytes().size());
  }
}

void write_all(const std::vector<CompiledWeight>& later, const Graph& graph, std::byte* weights) {
  std::unordered_map<std::string, const Value*> by_name;
  for (const Value& value : graph.values) by_name.emplace(value.name, &value);
  for (const CompiledWeight& weight : later) {
    auto found = by_name.find(weight.value);
    if (found == by_name.end() || !found->second->data) {
      fail("weight '{}' of the compiled network has no data", weight.value);
    }
    if (found->second->type != weight.type) {
      fail("weight '{}' is {}, but the network was compiled for {}", weight.value,
           print_type(found->second->type), print_type(weight.type));
    }
    write(weight, *found->second->data, weights);
  }
}

}  // namespace lathe
