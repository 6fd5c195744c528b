// Screening: which variants of a layer are worth more work than others. They are chosen by what
// they mean: each family and each amount of work is to be represented, whatever its recipes are.
#pragma once

#include <functional>

#include "search/layer_variants.h"

namespace lathe {

/// How far a variant, given by its number, is from the layer as it was. Infinite: it is left out.
using VariantDistance = std::function<double(size_t)>;

/// Returns the numbers of at most so many variants; the layer itself is the first.
///
/// Amounts of work are counted in halvings of the layer's MACs. Where distances are known, a
/// variant goes if another one of its family computes less and is no farther away; of those that
/// compute the same, and that scores do not tell apart, the one with the shortest recipe stays. Of
/// the rest, first each family gets one, of the amount of work that has been chosen least often.
/// Then amounts of work take turns, near variants first. Variants of other families that do the
/// same work and are as far away come along: what they score does not tell which is better.
///
/// Without distances, every family and amount of work takes turns; short recipes come first.
std::vector<size_t> representatives(const std::vector<LayerVariant>& variants, size_t most,
                                    const VariantDistance& distance = nullptr);

}  // namespace lathe
