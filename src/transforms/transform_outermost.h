// Keeping a part of the outermost loop: what bottleneck and keep share.
#pragma once

#include "transforms/transform_neural.h"

namespace lathe {

/// Does the outermost loop of the target count positions alone? Others pick weights.
bool counts_positions(const Nest& nest, const NeuralTarget& target);

/// Keeps a part of the outermost loop of the target. "completion" names what becomes of elements
/// that are no longer written or read; "" if the step names nothing.
Applied keep_outermost(const Nest& nest, const NeuralTarget& target, const Kept& kept,
                       const std::string& completion);

/// Returns the step alone and with the completions of outputs, as far as they apply.
std::vector<Step> completed_steps(const Nest& nest, const NeuralTarget& target, const Step& step);

}  // namespace lathe
