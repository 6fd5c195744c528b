// What a layer can become: every meaning that a few steps can give it, each once.
//
//   for (const LayerVariant& v : variants_of(call)) use(v.recipe);
//   group(2)    interchange(co, ci) -> bottleneck(4)    split_range(co, 1/2) -> group(2) -> ...
//
// Steps are found by composition. Neural steps act on the outermost loops, so a few program steps
// decide what they mean: which loops are outermost (interchange), which part of a range is acted on
// (split_range, unroll). Orders that no neural step follows are not here: they are for tuning.
#pragma once

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

/// One thing that a layer can become.
struct LayerVariant {
  Recipe recipe;        ///< empty: as it was
  std::string meaning;  ///< "grouped x4"
  long macs = 0, weights = 0;
};

/// Returns what a convolution can become, itself first; its shape stays. Those that compute no less
/// than the layer did are left out. Those of few steps come first; the same call gives the same
/// list.
std::vector<LayerVariant> variants_of(const Call& layer, const VariantOptions& options = {});

}  // namespace lathe
