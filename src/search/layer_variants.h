// What a layer can become: every meaning that a few steps can give it, each once.
//
//   for (const LayerVariant& v : variants_of(call)) use(v.recipe);
//   group(2)    interchange(co, ci) -> bottleneck(4)    split_range(co, 1/2) -> group(2) -> ...
//
// Recipes are composed of neural steps, and of the program steps that decide what a neural step
// means (moves.h). What two recipes mean in common counts once. Tuning tries other orders of loops.
#pragma once

#include <optional>

#include "nest/step.h"
#include "ops/op.h"
#include "search/variant_family.h"

namespace lathe {

struct VariantOptions {
  size_t neural = 2;   ///< neural steps of a recipe, at most
  size_t program = 3;  ///< program steps before each of them, at most
  long factor = 16;    ///< of a recipe, at most; one that leaves one channel is allowed, too
};

/// Channels that a layer loses together with the layers that it is coupled with.
struct Coupling {
  long filters = 1;  ///< one filter in so many is left
  long inputs = 1;   ///< one channel in so many is left of those that it reads
  Recipe recipe;     ///< that makes it inside a network, where the input shrinks by itself
};

/// One thing that a layer can become.
struct LayerVariant {
  Recipe recipe;        ///< that makes it of the layer alone; empty: the layer as it was
  std::string meaning;  ///< "grouped x4"
  long macs = 0, weights = 0;
  std::optional<Coupling> coupling = std::nullopt;
  Family family = Family::same;

  /// Returns the recipe that makes it inside a network.
  const Recipe& said() const { return coupling ? coupling->recipe : recipe; }
};

/// Prints a variant as a recipe that no other variant has. For a coupled variant, this is the
/// recipe by which the layer alone loses the channels.
std::string label_of(const LayerVariant& variant);

/// Returns what a convolution can become without a change of its output's shape. The first is the
/// convolution itself; then recipes of few neural steps come first. A variant that computes no less
/// than the layer did is left out. The same call gives the same list.
std::vector<LayerVariant> variants_of(const Call& layer, const VariantOptions& options = {});

/// Returns what a convolution can become, dense or in groups, if its filters are halved, or the
/// channels that it reads, or both. All that is coupled with them is halved, too.
std::vector<LayerVariant> coupled_variants_of(const Call& layer, bool filters, bool inputs);

}  // namespace lathe
