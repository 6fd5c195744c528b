// verb_network.cpp: what the verbs about a network share. Interface: verb_network.h.
#include "cli/verb_network.h"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "ops/op.h"
#include "transforms/transform_network.h"

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
  std::ifstream file(path);
  std::stringstream content;
  if (!file) fail("cannot read '{}'", path);
  content << file.rdbuf();
  Graph graph = parse_graph(content.str(), path);
  verify_types(graph);
  return graph;
}

Graph load_plain(const NetworkArguments& arguments, const std::map<std::string, Array>& values) {
  bool is_file = is_onnx_file(arguments.network) || arguments.network.ends_with(".graph");
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

}  // namespace

void add_network_arguments(CLI::App& app, NetworkArguments& arguments) {
  app.add_option("NETWORK", arguments.network,
                 "a built-in network ('lathe list models'), an .onnx or a .graph file")
      ->required();
  app.add_option("--shape", arguments.shapes,
                 "shape of an input of an .onnx file: NAME=1x3x224x224");
  app.add_option(
      "--apply", arguments.recipes,
      "change layers: 'NAMES: RECIPE', as in 'layer3.*.conv2: group(4)', or a file of such "
      "recipes: .json, or the .recipe of a bundle");
  app.add_option("--batch", arguments.model.batch, "samples at a time, of a built-in network")
      ->check(CLI::Range(1L, 1L << 20));
  app.add_option("--classes", arguments.model.classes, "classes of a built-in network")
      ->check(CLI::Range(1L, 1L << 20));
  app.add_option("--size", arguments.model.size,
                 "rows and columns of a built-in network's image, tokens of its text")
      ->check(CLI::Range(1L, 1L << 20));
}

NetworkRecipe load_network_recipe(const std::string& option, const std::string& text) {
  if (text.ends_with(".json") || text.ends_with(".recipe")) return read_network_recipe(text);
  try {
    return parse_network_recipe(text);
  } catch (const UserError& error) {
    fail("{} {}", option, error.what());
  }
}

bool is_onnx_file(const std::string& network) { return network.ends_with(".onnx"); }

Graph load_network(const NetworkArguments& arguments, const std::map<std::string, Array>& values) {
  Graph graph = load_plain(arguments, values);
  for (const std::string& text : arguments.recipes) {
    graph = transformed(graph, load_network_recipe("--apply", text));
  }
  return graph;
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

std::string print_short(long n) {
  if (n < 10000) return fmt::format("{}", n);
  auto value = static_cast<double>(n);
  for (const char* unit : {"k", "M", "G"}) {
    value /= 1000;
    if (value < 1000) return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : 1, unit);
  }
  return fmt::format("{:.1f} T", value / 1000);
}

ProgressBar::ProgressBar(std::string what)
    : what_(std::move(what)), is_terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (is_terminal_ && shown_ > 0) fmt::print(stderr, "\r{:79}\r", "");
}

void ProgressBar::show(size_t done, size_t all) {
  constexpr size_t width = 40;
  if (!is_terminal_ || all == 0) return;
  size_t filled = done * width / all;
  fmt::print(stderr, "\r{} [{:<{}}] {}/{} ", what_, std::string(filled, '='), width, done, all);
  ++shown_;
}

}  // namespace lathe
