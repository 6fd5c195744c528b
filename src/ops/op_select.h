// Operators that look for the greatest or least element of each line of a tensor.
#pragma once

#include <vector>

#include "ops/op.h"

namespace lathe::ops {

enum class Prefer { greatest, least };

/// Returns the operator that finds the place of the greatest or least element.
Op arg_op(const std::string& name, const std::string& summary, Prefer prefer);

}  // namespace lathe::ops
