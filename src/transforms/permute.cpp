// permute.cpp: puts the channels that a layer makes into another order.
//
//   permute(5, 0..3):   channels 0 1 2 3 4 5 6 7  ->  channels 5 0 1 2 3 4 6 7
//
// The channels that are named come first, in this order; the others follow as they were. All layers
// that are coupled with the layer get their weights in this order, too, so the network computes the
// same (program/channel_order.h). It is exact, but no step on a nest: a permutation is not affine.
// What it is for: keep and bottleneck keep the first channels, and group puts neighbours together.
#include "transforms/transform.h"

namespace lathe::transforms {
namespace {

Applied refuse_nest(const Nest& nest, const Arguments&) {
  fail(
      "it changes the weights of all layers whose channels are coupled, so it applies to a layer "
      "of "
      "a network (--apply 'LAYER: permute(5, 0..3)'), not to the nest of '{}' alone",
      nest.name);
}

std::vector<Step> no_candidates(const Nest&) { return {}; }

}  // namespace

Transform permute() {
  return {"permute",
          Transform::Kind::network,
          {{Takes::channels}},
          "channels 0 1 2 3 ...  ->  channels c d 0 1 ..., in all layers that are coupled",
          refuse_nest,
          no_candidates};
}

}  // namespace lathe::transforms
