// Which network a job is about: its name or file, its shapes, what was done to it before.
//
//   Graph network = load_network({.network = "resnet34-cifar"});
//   Graph file = load_network({.network = "model.onnx", .shapes = {"x=1x3x32x32"}});
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/array.h"
#include "graph/graph.h"
#include "models/model.h"
#include "transforms/transform_network.h"

namespace lathe {

/// A network and how it is to be loaded, as a user says it.
struct NetworkArguments {
  std::string network;               ///< a built-in one's name, or an .onnx or .graph file
  std::vector<std::string> shapes;   ///< of inputs of an .onnx file: "x=1x3x224x224"
  std::vector<std::string> recipes;  ///< PATTERN: RECIPE, or a .json or .recipe file
  ModelOptions model;
  uint64_t seed = 0;
};

/// Reads what an option was given: recipes for layers, or the file that holds them.
NetworkRecipe load_network_recipe(const std::string& option, const std::string& text);

/// Fails if a recipe is a file that says which network it was found for, and that is another one.
void check_recipe(const std::string& text, const std::string& name, const Graph& network);

/// Does the text name an ONNX file, and not a built-in network?
bool is_onnx_file(const std::string& network);
/// Does the text name a file, .onnx or .graph, and not a built-in network?
bool is_network_file(const std::string& network);

/// Loads the network: a built-in one by name, an .onnx file, or a .graph file. Values of inputs
/// that are known may be given for ONNX files.
Graph load_network(const NetworkArguments& arguments,
                   const std::map<std::string, Array>& values = {});

/// Reads a shape: "1x3x224x224".
Shape parse_shape(const std::string& text);

}  // namespace lathe
