// The list of blocks: what a search over blocks chooses from. Lathe's own search is compared with
// it.
//
//   for (const LayerVariant& block : blocks_of(call)) use(block.recipe);
//
// Such a search has a list, made by hand, of what may take a layer's place. This list has published
// blocks (those of BlockSwap, and the depthwise-separable one of MobileNet):
//
//   dense                   the layer as it was
//   grouped                 G groups, G = 2, 4, 8, 16
//   grouped, 1x1            the same with a 1x1 convolution behind, alone (expand) or with a
//                           normalisation and a ReLU between (deepen)
//   bottleneck              1x1 down to 1/B of the channels, k x k, 1x1 up, B = 2, 4
//   bottleneck, grouped     the same, the k x k in G groups
//   depthwise-separable     depthwise, normalisation, ReLU, 1x1
//
// Each block is a recipe. So it is compiled, judged and measured like all that Lathe composes.
#pragma once

#include "search/layer_variants.h"

namespace lathe {

/// Returns the blocks that fit a convolution; the first is the convolution itself. A block fits if
/// its numbers divide the channels and if it computes less than the convolution does. No block is
/// left out because of its score or its time. A layer that is in groups already has only itself.
std::vector<LayerVariant> blocks_of(const Call& layer);

}  // namespace lathe
