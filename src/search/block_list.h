// The list of blocks: what searches over blocks choose from, to compare with.
//
//   for (const LayerVariant& block : blocks_of(call)) use(block.recipe);
//
// A search of this kind has a list, made by hand, of what may stand in a layer's place. This one
// has the blocks of published lists (BlockSwap's, and the depthwise-separable one of MobileNet):
//
//   dense                   the layer as it was
//   grouped                 G groups, G = 2, 4, 8, 16
//   grouped, 1x1            the same with a 1x1 convolution behind, alone (expand) or with a
//                           normalisation and a ReLU between (deepen)
//   bottleneck              1x1 down to 1/B of the channels, k x k, 1x1 up, B = 2, 4
//   bottleneck, grouped     the same, the k x k in G groups
//   depthwise-separable     depthwise, normalisation, ReLU, 1x1
//
// Each is a recipe, so that it is compiled, judged and measured like whatever Lathe composes.
#pragma once

#include "search/layer_variants.h"

namespace lathe {

/// Returns the blocks that fit a convolution, itself first: those whose numbers divide its
/// channels and that compute less than it does. Nothing is left out by its score or its time. A
/// layer that is in groups already fits none but itself.
std::vector<LayerVariant> blocks_of(const Call& layer);

}  // namespace lathe
