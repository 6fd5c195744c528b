// What a layer can become: every meaning that a few steps can give it, each once.
//
//   for (const LayerVariant& v : variants_of(call)) use(v.recipe);
//   group(2)    interchange(co, ci) -> bottleneck(4)    split_range(co, 1/2) -> group(2) -> ...
//
// Recipes are composed of neural steps and of the program steps that decide what a neural step
// means. Neural steps act on the outermost loops: interchange says which loops these are,
// split_range and unroll say on which part of a range they act. Other orders of loops are left to
// tuning.
#pragma once

#include <optional>

#include "nest/step.h"
#include "ops/op.h"

namespace lathe {

struct VariantOptions {
  size_t neural = 2;  ///< neural steps of a recipe, at most
  long factor = 16;   ///< of a step, at most; a factor that leaves one channel is allowed, too
  /// Recipes with two neural steps are thousands. So many of them are drawn, at random but always
  /// the same ones; 0: all of them are tried, which takes minutes.
  size_t draws = 100;
};

/// Channels that a layer and those it is coupled with lose together.
struct Coupling {
  long filters = 1;  ///< one in so many is left
  long inputs = 1;   ///< one in so many of what it reads
  Recipe recipe;     ///< that makes it of a layer of a network: what it reads shrinks by itself
};

/// One thing that a layer can become.
struct LayerVariant {
  Recipe recipe;        ///< that makes it of the layer alone; empty: as it was
  std::string meaning;  ///< "grouped x4"
  long macs = 0, weights = 0;
  std::optional<Coupling> coupling = std::nullopt;

  /// Returns the recipe that makes it of a layer of a network.
  const Recipe& said() const { return coupling ? coupling->recipe : recipe; }
};

/// Prints what a layer becomes, as a recipe that no other variant has. Of a coupled variant it is
/// the recipe by which the layer alone loses the channels.
std::string label_of(const LayerVariant& variant);

/// Returns what a convolution can become without a change of its output's shape, itself first. What
/// computes as much as the layer did, or more, is left out. Recipes of few steps come first. The
/// same call gives the same list.
std::vector<LayerVariant> variants_of(const Call& layer, const VariantOptions& options = {});

/// Returns what a convolution can become where its filters, or the channels that it reads, are
/// halved with all that is coupled with them: as it is, and in groups.
std::vector<LayerVariant> coupled_variants_of(const Call& layer, bool filters, bool inputs);

}  // namespace lathe
