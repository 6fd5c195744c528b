// A network as programs read it: its layers, shapes and costs, and which channels go together.
//
//   describe(load_network({.network = "resnet18"}))["macs"]
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "graph/graph.h"

namespace lathe {

/// Describes a network in JSON.
nlohmann::json describe(const Graph& graph);

}  // namespace lathe
