// What translations with a sliding window share.
#pragma once

#include "onnx/site.h"

namespace lathe {

/// Returns the convolution that the node's attributes describe; "input" has the shape of operand 0.
ValueId convolved(const Site& site, ValueId input, ValueId weight, ValueId bias);

}  // namespace lathe
