// What a convolution can become, by the short names that tables of trained networks use.
//
//   dense       as it was
//   group-G     in G groups
//   shuf-G      in G groups, of which group g reads channels g, g + G, g + 2G, ...
//   dw          depthwise, batch normalisation, ReLU, 1x1
//   seq2-U-G    U filters dense, the rest in G groups
//   seq3-A-B    halves of the filters in A and in B groups
//   stripe-S    each of S stripes of rows reads its own slice of the input channels
//   botx-B      filters / B; batch normalisation, ReLU and 1x1 bring the channels back
//   botr-B      filters / B, repeated
//   boti-B      only the first 1/B of the input channels are read
//   bots-B      every B-th row and column, repeated
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/nest.h"
#include "transforms/transform_network.h"

namespace lathe {

/// Returns the recipe that makes a kind of a convolution's nest; nothing if its sizes do not allow
/// it. A kind that does not exist is an error that lists those that do.
std::optional<Recipe> recipe_of_kind(const Nest& layer, std::string_view kind);

}  // namespace lathe
