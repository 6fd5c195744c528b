// transform_precision.cpp: see transform_precision.h.
#include "transforms/transform_precision.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <vector>

#include "program/layers.h"

namespace lathe {
namespace {

struct NamedPrecision {
  Precision precision;
  const char* name;
  const char* step;  ///< that gives it; null: none does
};

constexpr std::array all_precisions = {
    NamedPrecision{Precision::f32, "f32", nullptr}, NamedPrecision{Precision::tf32, "tf32", "cast"},
    NamedPrecision{Precision::f16, "f16", "cast"}, NamedPrecision{Precision::bf16, "bf16", "cast"},
    NamedPrecision{Precision::int8, "int8", "quantize"}};

}  // namespace

const char* name_of(Precision precision) {
  return std::find_if(all_precisions.begin(), all_precisions.end(),
                      [&](const NamedPrecision& each) { return each.precision == precision; })
      ->name;
}

std::optional<Precision> precision_named(std::string_view name) {
  for (const NamedPrecision& each : all_precisions) {
    if (each.name == name) return each.precision;
  }
  return std::nullopt;
}

std::optional<Step> step_for(Precision precision) {
  for (const NamedPrecision& each : all_precisions) {
    if (each.precision == precision && each.step != nullptr) {
      return Step{each.step, {std::string(each.name)}};
    }
  }
  return std::nullopt;
}

std::optional<Precision> precision_of(const Step& step) {
  for (const NamedPrecision& each : all_precisions) {
    if (step_for(each.precision) == step) return each.precision;
  }
  return std::nullopt;
}

Precision precision_of(const Recipe& recipe) {
  Precision found = Precision::f32;
  for (const Step& step : recipe) found = precision_of(step).value_or(found);
  return found;
}

Recipe without_precision(const Recipe& recipe) {
  Recipe result = recipe;
  std::erase_if(result, [](const Step& step) { return precision_of(step).has_value(); });
  return result;
}

Recipe with_precision(const Recipe& recipe, Precision precision) {
  Recipe result = without_precision(recipe);
  if (auto step = step_for(precision)) result.push_back(*step);
  return result;
}

NetworkRecipe without_precisions(const NetworkRecipe& recipe) {
  NetworkRecipe result;
  for (const LayerRecipe& each : recipe) {
    Recipe left = without_precision(each.recipe);
    if (!left.empty()) result.push_back({each.layers, std::move(left)});
  }
  return result;
}

Precision LayerPrecisions::of(const std::string& node) const {
  std::vector<std::string> names;
  for (const auto& [layer, precision] : of_layer) names.push_back(layer);
  auto layer = layer_with(node, names);
  return layer ? of_layer.at(names[*layer]) : others;
}

bool LayerPrecisions::are_all(Precision precision) const {
  return others == precision &&
         std::all_of(of_layer.begin(), of_layer.end(),
                     [&](const auto& each) { return each.second == precision; });
}

LayerPrecisions precisions_in(const Graph& network, const NetworkRecipe& recipe, Precision others) {
  LayerPrecisions result{{}, others};
  for (const Node& node : network.nodes) {
    if (!is_layer(node)) continue;
    Precision& own = result.of_layer.try_emplace(node.name, others).first->second;
    for (const LayerRecipe& each : recipe) {
      if (fnmatch(each.layers.c_str(), node.name.c_str(), 0) != 0) continue;
      for (const Step& step : each.recipe) own = precision_of(step).value_or(own);
    }
  }
  return result;
}

}  // namespace lathe
