// Built-in networks. Each file X.cpp of this folder defines one family of them, named as in PyTorch
// and torchvision; they begin untrained.
//
//   Graph graph = load_model("resnet34");
//   Graph small = load_model("resnet34-cifar", {.batch = 8, .classes = 100});
//   Graph cell = load_model("nasbench201:6111");
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace lathe {

/// What a user can choose for every network.
struct ModelOptions {
  long batch = 1;
  std::optional<long> classes = std::nullopt;  ///< the network's own number where left out
  std::optional<long> size = std::nullopt;     ///< rows = columns of the image; tokens of a text
};

/// One network of a family, by the name that a user types.
struct Variant {
  std::string name;
  std::string summary;  ///< one line
};

/// A family of networks. If they take an argument, the user types it after a colon.
struct Model {
  std::string name;
  std::vector<Variant> variants;
  /// Returns the network of a variant's name, its argument included: "nasbench201:6111".
  std::function<Graph(const std::string& name, const ModelOptions&)> build;
  std::string argument = "";  ///< what the argument is: "INDEX"; empty: there is none
  std::string example = "";   ///< an argument: "6111"
};

namespace models {
/// Returns the families.
const std::vector<Model>& all();
}  // namespace models

/// Returns a built-in network. An unknown name gets an error that says which name is nearest.
Graph load_model(const std::string& name, const ModelOptions& options = {});

/// A line of the list of networks.
struct ModelEntry {
  std::string name;     ///< "nasbench201:INDEX"
  std::string example;  ///< a name that can be loaded: "nasbench201:6111"
  std::string summary;
};

/// Lists the built-in networks by name.
std::vector<ModelEntry> list_models();

}  // namespace lathe
