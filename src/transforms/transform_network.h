// Recipes for the layers of a whole network.
//
//   layer3.*: group(4)
//   layer4.?.conv1: bottleneck(2, deepen)
//   layer1.0.conv1: permute(5, 0..3) -> keep(32)
//   layer1.1.conv1: cast(f16)
//
// What stands before the colon is a pattern of layers' names: * is any text, ? any letter, [ab] one
// of these. As JSON, "recipe" may be the text form, too:
//   {"lathe_network_recipe": 1, "layers": [{"match": "layer3.*", "recipe": {"lathe_recipe": ...}}]}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "nest/nest.h"
#include "nest/step.h"

namespace lathe {

/// A recipe, and the layers that it is for.
struct LayerRecipe {
  std::string layers;  ///< a pattern
  Recipe recipe;
  friend bool operator==(const LayerRecipe&, const LayerRecipe&) = default;
};

/// Recipes for a network. A layer that several patterns match gets their recipes one after another.
using NetworkRecipe = std::vector<LayerRecipe>;

/// Prints a line for each pattern, and reads such lines back; empty ones are left out.
std::string print(const NetworkRecipe& recipe);
NetworkRecipe parse_network_recipe(std::string_view text);

/// Converts to and from JSON. What a later version wrote is refused, with what to do.
nlohmann::json to_json(const NetworkRecipe& recipe);
NetworkRecipe network_recipe_from_json(const nlohmann::json& json);

/// Reads a JSON file, and writes one.
NetworkRecipe read_network_recipe(const std::string& path);
void write_network_recipe(const NetworkRecipe& recipe, const std::string& path);

/// Can recipes be for this node? It is a convolution or fully connected; its weight is operand 1.
bool is_layer(const Node& node);

/// Returns the pattern that matches this name alone.
std::string pattern_of(const std::string& name);

/// Returns the nest with its loop over samples innermost, if it was outermost. Neural steps act on
/// the outermost loops, and samples are no part of the network.
Nest samples_inward(const Nest& nest);

/// Returns the shapes of what a nest computes for others.
std::vector<Shape> output_shapes(const Nest& nest);

/// Returns the graph with the recipes applied to its convolutions and fully connected layers, in
/// standard operators. The loop over samples is put innermost first, so that a recipe suits any
/// batch. Filters that a step takes away for good (propagate) are taken from all layers that are
/// coupled with it, and from what reads them, before anything else is done. Likewise channels are
/// put into another order (permute) in all layers that are coupled, so that what follows keeps the
/// first ones of that order. How precisely layers are to compute is passed over
/// (transform_precision.h). Fails if a pattern matches no layer, and if a step does not apply to
/// one or breaks a dependence; capacity is not judged.
Graph transformed(const Graph& graph, const NetworkRecipe& recipe);

}  // namespace lathe
