// transform_network_text.cpp: recipes for networks as text and JSON. Interface:
// transform_network.h.
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_reason.h"
#include "data/file.h"
#include "transforms/transform_network.h"

namespace lathe {
namespace {

constexpr int network_version = 1;
constexpr const char* version_key = "lathe_network_recipe";

std::string_view trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

LayerRecipe parse_line(std::string_view line) {
  size_t colon = line.find(':');
  std::string_view pattern = trimmed(line.substr(0, colon));
  if (colon == std::string_view::npos || pattern.empty()) {
    fail("'{}': write it as 'LAYERS: RECIPE', as in 'layer3.*.conv2: group(4)'", line);
  }
  return {std::string(pattern), parse_recipe(line.substr(colon + 1))};
}

LayerRecipe layer_from_json(const nlohmann::json& json) {
  bool complete = json.is_object() && json.contains("match") && json["match"].is_string() &&
                  json.contains("recipe");
  if (!complete) {
    fail("network recipe: an entry of \"layers\" must have a \"match\" and a \"recipe\", not {}",
         json.dump());
  }
  const nlohmann::json& recipe = json["recipe"];
  return {json["match"].get<std::string>(),
          recipe.is_string() ? parse_recipe(recipe.get<std::string>()) : recipe_from_json(recipe)};
}

}  // namespace

std::string print(const NetworkRecipe& recipe) {
  std::string out;
  for (const LayerRecipe& layer : recipe) {
    out += fmt::format("{}: {}\n", layer.layers, print(layer.recipe));
  }
  return out;
}

NetworkRecipe parse_network_recipe(std::string_view text) {
  NetworkRecipe recipe;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty()) recipe.push_back(parse_line(line));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return recipe;
}

nlohmann::json to_json(const NetworkRecipe& recipe) {
  nlohmann::json layers = nlohmann::json::array();
  for (const LayerRecipe& layer : recipe) {
    layers.push_back({{"match", layer.layers}, {"recipe", to_json(layer.recipe)}});
  }
  return {{version_key, network_version}, {"layers", std::move(layers)}};
}

NetworkRecipe network_recipe_from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("layers") || !json["layers"].is_array()) {
    fail("network recipe: no list \"layers\"; is this a recipe for a network?");
  }
  if (json.contains(version_key) && json[version_key] != network_version) {
    fail(
        "network recipe: version {} is not known here (this is version {}); use the Lathe that "
        "wrote it",
        json[version_key].dump(), network_version);
  }
  NetworkRecipe recipe;
  for (const nlohmann::json& layer : json["layers"]) recipe.push_back(layer_from_json(layer));
  return recipe;
}

NetworkRecipe read_network_recipe(const std::string& path) {
  std::string text = read_file(path);
  try {
    return network_recipe_from_json(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    fail("'{}' is no recipe of a network: {}", path, plain_reason(error));
  } catch (const UserError& error) {
    fail("'{}': {}", path, error.what());
  }
}

void write_network_recipe(const NetworkRecipe& recipe, const std::string& path) {
  std::string text = to_json(recipe).dump(1) + "\n";
  write_file(path, {std::as_bytes(std::span(text))});
}

std::string pattern_of(const std::string& name) {
  std::string pattern;
  for (char c : name) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace lathe
