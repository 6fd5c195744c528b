// How precisely the layers of a network compute, as recipes say it.
//
//   layer1.*: cast(f16)
//   layer3.*: group(4) -> quantize(int8)
//
// On a nest these steps change the types of tensors. In a network, what stands between layers has
// types, too, and integers need scales that only data tell. So transformed() passes over these
// steps: networks are trained and judged in f32. What they say is done last, to the network that is
// to run (capacity/precision.h).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "transforms/transform_network.h"

namespace lathe {

/// What layers read and write.
enum class Precision { f32, tf32, f16, bf16, int8 };

/// Names a precision, and finds one by its name.
const char* name_of(Precision precision);
std::optional<Precision> precision_named(std::string_view name);

/// Returns the step that gives a layer a precision; nothing for f32, which layers have.
std::optional<Step> step_for(Precision precision);
/// Returns the precision that a step gives a layer; nothing for other steps.
std::optional<Precision> precision_of(const Step& step);
/// Returns the last precision that a recipe gives a layer; f32 if it gives none.
Precision precision_of(const Recipe& recipe);

/// Returns a recipe without the steps that say how precisely layers compute, and with one at its
/// end.
Recipe without_precision(const Recipe& recipe);
Recipe with_precision(const Recipe& recipe, Precision precision);
/// Returns recipes without those steps; those that say nothing else are left out.
NetworkRecipe without_precisions(const NetworkRecipe& recipe);

/// How precisely each layer of a network computes.
struct LayerPrecisions {
  std::map<std::string, Precision> of_layer =
      {};                             ///< by the names that layers have in the original
  Precision others = Precision::f32;  ///< of what is no layer there

  /// Returns the precision of a node that the layer, or what a recipe makes of it, consists of.
  Precision of(const std::string& node) const;
  /// Are all of this precision?
  bool are_all(Precision precision) const;
};

/// Returns what recipes say of the layers of a network; of several, the last counts.
LayerPrecisions precisions_in(const Graph& network, const NetworkRecipe& recipe,
                              Precision others = Precision::f32);

}  // namespace lathe
