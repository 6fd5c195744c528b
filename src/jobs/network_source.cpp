// network_source.cpp: loading the network of a job. Interface: network_source.h.
#include "jobs/network_source.h"

#include <charconv>

#include "base/error.h"
#include "bundle/making.h"
#include "data/file.h"
#include "onnx/onnx.h"
#include "ops/op.h"
#include "program/rebatch.h"

namespace lathe {
namespace {

std::map<std::string, Shape> parse_shapes(const std::vector<std::string>& texts) {
  std::map<std::string, Shape> shapes;
  for (const std::string& text : texts) {
    size_t at = text.rfind('=');
    if (at == std::string::npos) fail("--shape {}: write it as --shape input=1x3x224x224", text);
    shapes[text.substr(0, at)] = parse_shape(text.substr(at + 1));
  }
  return shapes;
}

Graph load_text(const std::string& path) {
  Graph graph = parse_graph(read_file(path), path);
  verify_types(graph);
  return graph;
}

Graph load_plain(const NetworkArguments& arguments, const std::map<std::string, Array>& values) {
  bool is_file = is_network_file(arguments.network);
  const ModelOptions& model = arguments.model;
  if (is_file && (model.batch != 1 || model.classes || model.size)) {
    fail(
        "--batch, --classes and --size are for built-in networks; bind the shapes of an .onnx file "
        "with --shape");
  }
  if (is_onnx_file(arguments.network)) {
    return import_onnx(arguments.network, {parse_shapes(arguments.shapes), values});
  }
  if (!arguments.shapes.empty()) {
    fail("--shape binds dimensions of an .onnx file; built-in networks take --batch and --size");
  }
  if (arguments.network.ends_with(".graph")) return load_text(arguments.network);
  return load_model(arguments.network, arguments.model);
}

/// Is a network the one that a bundle was made of? The number of samples does not count.
bool is_made_of(const Making& making, const Graph& network) {
  if (structure_of(initialised(network, 0)) == making.structure) return true;
  try {
    Graph same = rebatched(network, making.origin.model.batch);
    return structure_of(initialised(same, 0)) == making.structure;
  } catch (const UserError&) {
    return false;  // its number of samples is built in, and is another one
  }
}

}  // namespace

NetworkRecipe load_network_recipe(const std::string& option, const std::string& text) {
  if (text.ends_with(".json") || text.ends_with(".recipe")) return read_network_recipe(text);
  try {
    return parse_network_recipe(text);
  } catch (const UserError& error) {
    fail("{} {}", option, error.what());
  }
}

bool is_onnx_file(const std::string& network) { return network.ends_with(".onnx"); }

bool is_network_file(const std::string& network) {
  return is_onnx_file(network) || network.ends_with(".graph");
}

Graph load_network(const NetworkArguments& arguments, const std::map<std::string, Array>& values) {
  Graph graph = load_plain(arguments, values);
  for (const std::string& text : arguments.recipes) {
    NetworkRecipe recipe = load_network_recipe("--apply", text);
    check_recipe(text, arguments.network, graph);
    graph = transformed(graph, recipe);
  }
  return graph;
}

void check_recipe(const std::string& text, const std::string& name, const Graph& network) {
  if (!text.ends_with(".json") && !text.ends_with(".recipe")) return;
  std::optional<Making> making = making_in(text);
  if (!making || making->origin.network == name || is_made_of(*making, network)) return;
  fail(
      "'{}' was found for '{}', and '{}' is another network. 'lathe optimize {}' searches for a "
      "recipe for it",
      text, making->origin.network, name, name);
}

Shape parse_shape(const std::string& text) {
  Shape shape;
  const char* at = text.data();
  const char* end = text.data() + text.size();
  while (true) {
    long extent = 0;
    auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 0) fail("'{}' is no shape; one is 1x3x224x224", text);
    shape.push_back(extent);
    if (next == end) return shape;
    if (*next != 'x') fail("'{}' is no shape; one is 1x3x224x224", text);
    at = next + 1;
  }
}

}  // namespace lathe
