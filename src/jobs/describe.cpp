// describe.cpp: a network as programs read it. Interface: describe.h.
#include "jobs/describe.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "program/channels.h"
#include "program/layers.h"

namespace lathe {
namespace {

nlohmann::json to_json(const Graph& graph, const Layer& layer) {
  const Node& node = graph.nodes[layer.node];
  nlohmann::json attributes = nlohmann::json::object();
  for (const auto& [name, value] : node.attributes) attributes[name] = print_attribute(value);
  nlohmann::json inputs = nlohmann::json::array(), outputs = nlohmann::json::array();
  for (ValueId id : node.inputs) {
    if (id == no_value) {
      inputs.push_back(nullptr);
    } else {
      inputs.push_back({{"name", graph.values[id].name},
                        {"kind", name_of(graph.values[id].kind)},
                        {"type", print_type(graph.values[id].type)}});
    }
  }
  for (ValueId id : node.outputs) {
    outputs.push_back(
        {{"name", graph.values[id].name}, {"type", print_type(graph.values[id].type)}});
  }
  return {
      {"name", layer.name},       {"op", layer.op},           {"description", layer.description},
      {"attributes", attributes}, {"inputs", inputs},         {"outputs", outputs},
      {"macs", layer.cost.macs},  {"weights", layer.weights}, {"convolution", layer.is_convolution},
      {"workload", layer.key}};
}

}  // namespace

nlohmann::json describe(const Graph& graph) {
  std::vector<Layer> layers = layers_of(graph);
  long macs = 0;
  nlohmann::json list = nlohmann::json::array(), inputs = list, outputs = list, sets = list;
  for (const Layer& layer : layers) {
    macs += layer.cost.macs;
    list.push_back(to_json(graph, layer));
  }
  auto value = [&](ValueId id) {
    return nlohmann::json{{"name", graph.values[id].name},
                          {"type", print_type(graph.values[id].type)}};
  };
  for (ValueId id : graph.inputs) inputs.push_back(value(id));
  for (ValueId id : graph.outputs) outputs.push_back(value(id));
  for (const ChannelSet& set : channel_sets(graph)) {
    nlohmann::json members = nlohmann::json::array();
    for (const ChannelRange& m : set.members) {
      members.push_back({{"value", graph.values[m.value].name},
                         {"dimension", m.dimension},
                         {"first", m.first},
                         {"count", m.count}});
    }
    sets.push_back({{"channels", set.channels},
                    {"multiple", set.multiple},
                    {"fixed", set.fixed},
                    {"members", members}});
  }
  return {{"name", graph.name},
          {"hash", fmt::format("{:016x}", structural_hash(graph))},
          {"weights", weight_count(graph)},
          {"macs", macs},
          {"inputs", inputs},
          {"outputs", outputs},
          {"layers", list},
          {"channel_sets", sets}};
}

}  // namespace lathe
