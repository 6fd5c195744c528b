// What the verbs about a network share: which one, its shapes and weights.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/verb.h"
#include "graph/graph.h"
#include "models/model.h"
#include "onnx/onnx.h"
#include "transforms/transform_network.h"

namespace lathe {

/// NETWORK and its options as they were typed.
struct NetworkArguments {
  std::string network;
  std::vector<std::string> shapes;
  std::vector<std::string> recipes;  ///< PATTERN: RECIPE, or a .json or .recipe file
  ModelOptions model;
  uint64_t seed = 0;
};

/// Declares NETWORK and its options on "app".
void add_network_arguments(CLI::App& app, NetworkArguments& arguments);

/// Reads what an option was given: recipes for layers, or the file that holds them.
NetworkRecipe load_network_recipe(const std::string& option, const std::string& text);

/// Does the text name an ONNX file, and not a built-in network?
bool is_onnx_file(const std::string& network);

/// Loads the network: a built-in one by name, an .onnx file, or a .graph file. Values of inputs
/// that are known may be given for ONNX files.
Graph load_network(const NetworkArguments& arguments,
                   const std::map<std::string, Array>& values = {});

/// Reads a shape: "1x3x224x224".
Shape parse_shape(const std::string& text);

/// Prints a large number shortly: 118.0 M.
std::string print_short(long n);

/// Shows on a terminal how far long work has come, and nothing elsewhere. Clears up behind itself.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  void show(size_t done, size_t all);

 private:
  std::string what_;
  bool is_terminal_;
  size_t shown_ = 0;
};

}  // namespace lathe
