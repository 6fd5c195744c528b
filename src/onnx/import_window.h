// What translations with a sliding window share.
#pragma once

#include "onnx/site.h"

namespace lathe {

/// Returns the convolution that the node's attributes describe, and "more"; "input" has the shape
/// of operand 0.
ValueId convolved(const Site& site, ValueId input, ValueId weight, ValueId bias,
                  const Attributes& more = {});

}  // namespace lathe
