// Splitting the range of a loop: what split_range and unroll share.
#pragma once

#include "transforms/transform_loops.h"

namespace lathe {

/// Cuts a loop after "count" iterations: every statement inside becomes two ("s.0", "s.1"), in the
/// loops "x.0" and "x.1", one after the other. The values computed are the same.
Nest cut_range(const Nest& nest, const std::string& loop, long count);

}  // namespace lathe
