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
#include "search/coupled_variants.h"
#include "search/variant_family.h"

namespace lathe {

struct VariantOptions {
  size_t neural = 2;   ///< neural steps of a recipe, at most
  size_t program = 3;  ///< program steps before each of them, at most
  long factor = 16;    ///< of a recipe, at most; one that leaves one channel is allowed, too
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

/// Returns what a convolution can become without a change of its output's shape. The first is the
/// convolution itself; then recipes of few neural steps come first. A variant that computes no less
/// than the layer did is left out. The same call gives the same list.
std::vector<LayerVariant> variants_of(const Call& layer, const VariantOptions& options = {});

}  // namespace lathe
