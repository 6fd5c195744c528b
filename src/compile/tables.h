// A compiled network as backends get it.
#pragma once

#include "compile/compile.h"

namespace lathe {

/// Returns what a device and a library need of a network, but for its weights.
Tables tables_of(const Compiled& compiled, const std::string& name);

}  // namespace lathe
