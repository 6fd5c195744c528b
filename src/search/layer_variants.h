// What a layer can become: every meaning that a few steps can give it, each once.
//
//   for (const LayerVariant& v : variants_of(call)) use(v.recipe);
//   group(2)    interchange(co, ci) -> bottleneck(4)    split_range(co, 1/2) -> group(2) -> ...
//
// Steps are found by composition. Neural steps act on the outermost loops, so a few program steps
// decide what they mean: which loops are outermost (interchange), which part of a range is acted on
// (split_range, unroll). Orders that no neural step follows are not here: they are for tuning.
#pragma once

#include <optional>

#include "nest/step.h"
#include "ops/op.h"

namespace lathe {

struct VariantOptions {
  size_t neural = 2;  ///< steps of a recipe that change what is computed, at most
  long factor = 16;   ///< of a step, at most; a factor that leaves one channel is allowed, too
  /// Recipes with more than one such step are thousands: so many of them are drawn at random, with
  /// a seed of their own; 0: all are tried, which takes minutes.
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

/// Prints what a layer becomes as a recipe that no other variant has: of a coupled one, the layer
/// alone loses the channels, and nothing stands for them.
std::string label_of(const LayerVariant& variant);

/// Returns what a convolution can become, itself first; its shape stays. Those that compute no less
/// than the layer did are left out. Those of few steps come first; the same call gives the same
/// list.
std::vector<LayerVariant> variants_of(const Call& layer, const VariantOptions& options = {});

/// Returns what a convolution can become where its filters, or the channels that it reads, are
/// halved with all that is coupled with them: as it is, and in groups.
std::vector<LayerVariant> coupled_variants_of(const Call& layer, bool filters, bool inputs);

}  // namespace lathe
