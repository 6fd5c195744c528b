// The heads of attention: features that lie side by side, or in a dimension of their own.
#pragma once

#include "onnx/site.h"

namespace lathe {

/// Returns 0, 1, 2 ... in this shape.
ValueId counted(const Site& site, const Shape& shape);

/// Splits [batch, place, head * feature] to [batch, head, place, feature], and the inverse.
ValueId with_heads(const Site& site, ValueId value, long heads);
ValueId without_heads(const Site& site, ValueId value);

/// Repeats each head of [batch, head, ...], so that groups of query heads share one.
ValueId repeated_heads(const Site& site, ValueId value, long heads);

}  // namespace lathe
